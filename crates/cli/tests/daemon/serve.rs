//! Where the daemon listens, across restarts and changes.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};

use segue_testkit::NetworkClient;
use segue_testkit::scene::kill_daemon;

use crate::world;

#[test]
fn daemon_listens_again_after_it_was_killed_until_it_is_switched_off() {
    let world = world();
    let client = NetworkClient::listen(&world);
    let reader = client.with_scopes(&world, "reader", &["read"]);
    assert_eq!(reader.get("/v1/health").status, 200);
    kill_daemon(&world);
    assert!(TcpStream::connect(reader.address).is_err());
    let report = world.json(["serve", "--json"]);
    assert_eq!(report["address"], reader.address.to_string(), "{report}");
    assert_eq!(reader.get("/v1/health").status, 200);

    let off = world.json(["serve", "--off", "--json"]);
    assert_eq!(off["state"], "off", "{off}");
    let refused = TcpStream::connect(reader.address).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    kill_daemon(&world);
    assert_eq!(world.json(["serve", "--json"])["state"], "off");
    let log = world.ok(["log"]);
    assert!(log.contains(&format!("listens on {}", reader.address)), "{log}");
    assert!(log.contains("switched off"), "{log}");
}

#[test]
fn address_that_other_machines_reach_is_refused_without_tls_or_a_proxy() {
    let world = world();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.7:4747"] {
        let outcome = world.segue(["serve", "--listen", address]);
        assert_eq!(outcome.status, 2, "{outcome:#?}");
        for word in ["--tls-cert", "--behind-proxy", "127.0.0.1"] {
            assert!(outcome.stderr.contains(word), "{outcome:#?}");
        }
    }
    assert_eq!(world.json(["serve", "--json"])["state"], "off");
    for arguments in [
        ["serve", "--behind-proxy"].as_slice(),
        &["serve", "--listen", "127.0.0.1:0", "--tls-cert", "c.pem"],
        &["serve", "--listen", "localhost"],
        &["serve", "--listen", "127.0.0.1:0", "--host", "https://a.example"],
        &["serve", "--listen", "127.0.0.1:0", "--off"],
    ] {
        let output = world.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    }
}

#[test]
fn occupied_address_is_an_error_and_the_earlier_one_stays() {
    let world = world();
    let client = NetworkClient::listen(&world).with_scopes(&world, "reader", &["read"]);
    let occupied = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = occupied.local_addr().unwrap().to_string();
    let outcome = world.segue(["serve", "--listen", &address]);
    assert_eq!(outcome.status, 7, "{outcome:#?}");
    assert!(outcome.stderr.contains(&address), "{outcome:#?}");
    assert_eq!(client.get("/v1/health").status, 200);
    // The same address again is no conflict with itself.
    let again = client.address.to_string();
    world.ok(["serve", "--listen", &again, "--host", "agents.example.org"]);
    let named = [("host", "agents.example.org")];
    assert_eq!(client.ask("GET", "/v1/health", None, &named).status, 200);
}

#[test]
fn port_that_is_taken_after_a_restart_is_reported_and_agents_go_on() {
    let world = world();
    let client = NetworkClient::listen(&world);
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "hello"]);
    kill_daemon(&world);
    let occupied = TcpListener::bind(client.address).unwrap();
    let report = world.json(["serve", "--json"]);
    assert_eq!(report["state"], "failed", "{report}");
    assert!(report["error"].as_str().unwrap().contains(&client.address.to_string()), "{report}");
    assert_eq!(world.session("fox")["name"], "fox");
    drop(occupied);
    let address = client.address.to_string();
    assert_eq!(world.json(["serve", "--listen", &address, "--json"])["state"], "listening");
}
