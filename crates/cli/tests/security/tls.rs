//! What clients can do to a daemon that speaks TLS, and how it treats the files of its certificate.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpStream};

use segue_core::model::ForgeSubject;
use segue_testkit::dispatch_scene::{DispatchScene, REPOSITORY};
use segue_testkit::forge_server::{DeliveredDetail, ServedDelivery};
use segue_testkit::network_client::connect_from;
use segue_testkit::scene::{self, kill_daemon};
use segue_testkit::tls_client::{CHAIN, KEY, SERVE};
use segue_testkit::{TestCertificate, TlsClient, World};
use serde_json::{Value, json};

use crate::world;

/// The first bytes of TLS records with an alert and with a part of a handshake.
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;

/// The alert `protocol_version`: a refused version of the protocol.
const PROTOCOL_VERSION: u8 = 70;

/// A daemon that speaks TLS, and a token for it.
struct TlsScene {
    world: World,
    client: TlsClient,
    token: String,
}

impl TlsScene {
    fn new(certificate: &TestCertificate) -> Self {
        let world = world();
        certificate.write(&world.project());
        let client = TlsClient::listen(&world, certificate);
        let create = ["token", "create", "--name", "reader", "--scope", "read", "--json"];
        let token = world.json(create)["token"].as_str().unwrap().to_owned();
        Self { world, client, token }
    }

    /// Asserts that a client that keeps to the protocol gets its answer.
    fn assert_serves(&self) {
        let answer = self.client.health(&self.token).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text);
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.client.address).unwrap()
    }

    /// Sends bytes and nothing after them. Returns everything that the daemon sends until it closes
    /// the connection.
    fn answer(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // The daemon may close the connection before it has read everything.
        let _sent = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
        rest(&mut stream)
    }
}

/// Returns everything that the daemon sends until it closes the connection.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    // A connection that was reset is closed, too.
    let _closed = stream.read_to_end(&mut rest);
    rest
}

/// Returns the first message of a client whose newest version of the protocol is 3.`minor`, such as
/// 3.1 for TLS 1.0 and 3.3 for TLS 1.2.
fn hello_of_version(minor: u8) -> Vec<u8> {
    let ciphers = [0xc0, 0x2b, 0xc0, 0x2c, 0xc0, 0x14, 0xc0, 0x13, 0x00, 0x35, 0x00, 0x2f];
    let groups = [0, 10, 0, 6, 0, 4, 0, 29, 0, 23];
    let point_formats = [0, 11, 0, 2, 1, 0];
    let signature_algorithms = [0, 13, 0, 6, 0, 4, 4, 3, 8, 4];
    let extensions = [&groups[..], &point_formats, &signature_algorithms].concat();
    let parts: [&[u8]; 7] = [
        &[3, minor],
        &[7; 32],
        &[0, 0, 12],
        &ciphers,
        &[1, 0, 0],
        &[u8::try_from(extensions.len()).unwrap()],
        &extensions,
    ];
    let handshake = record(1, &parts.concat(), 3);
    let length = u16::try_from(handshake.len()).unwrap().to_be_bytes();
    [&[HANDSHAKE, 3, minor.min(1)], &length[..], &handshake].concat()
}

/// Returns a message with its kind and its length, which has this many bytes.
fn record(kind: u8, body: &[u8], length_bytes: usize) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[kind], &length[4 - length_bytes..], body].concat()
}

#[test]
fn plain_http_on_the_port_of_tls_is_not_answered() {
    let scene = TlsScene::new(&TestCertificate::valid());
    let plain = scene.client.plain().with_token(&scene.token);
    let answer = plain.get("/v1/health");
    assert_eq!(answer.status, 0, "{}", answer.text);
    assert!(!answer.text.contains("HTTP/"), "{}", answer.text);
    scene.assert_serves();
}

#[test]
fn old_versions_of_the_protocol_are_refused_with_an_alert() {
    let scene = TlsScene::new(&TestCertificate::valid());
    for (version, minor) in [("SSL 3.0", 0), ("TLS 1.0", 1), ("TLS 1.1", 2)] {
        let answer = scene.answer(&hello_of_version(minor));
        assert_eq!(answer.len(), 7, "{version}: {answer:?}");
        assert_eq!((answer[0], answer[6]), (ALERT, PROTOCOL_VERSION), "{version}: {answer:?}");
    }
    // Nothing but the version is wrong: the same message of TLS 1.2 begins a handshake.
    let answer = scene.answer(&hello_of_version(3));
    assert_eq!(answer[..2], [HANDSHAKE, 3], "{answer:?}");
    scene.assert_serves();
}

#[test]
fn client_that_is_silent_in_the_handshake_is_disconnected_and_others_are_served_meanwhile() {
    let scene = TlsScene::new(&TestCertificate::valid());
    let hello = scene.client.hello();
    let mut silent: Vec<TcpStream> = [0, 1, 5, hello.len() / 2, hello.len()]
        .into_iter()
        .map(|sent| {
            let mut stream = scene.connect();
            stream.write_all(&hello[..sent]).unwrap();
            stream
        })
        .collect();
    scene.assert_serves();
    for stream in &mut silent {
        // Ends when the daemon closes the connection. The whole hello gets the answer of a server.
        rest(stream);
    }
    scene.assert_serves();
}

#[test]
fn garbage_instead_of_a_handshake_closes_the_connection() {
    let scene = TlsScene::new(&TestCertificate::valid());
    let mut chance = segue_testkit::chance::Chance::new();
    let mut random = |count: usize| -> Vec<u8> {
        (0..count).map(|_| u8::try_from(chance.below(256)).unwrap()).collect()
    };
    let mut cut = scene.client.hello();
    cut.truncate(20);
    cut.extend([0xff; 600]);
    let mut attacks = vec![
        vec![0; 70_000],
        vec![0xff; 70_000],
        // A record that is longer than allowed, and one of a handshake without an end.
        [&[22, 3, 1, 0xff, 0xff][..], &[1; 70_000]].concat(),
        [&[22, 3, 1, 0x40, 0x00, 1, 0xff, 0xff, 0xff][..], &[0; 16_380]].concat().repeat(8),
        // Application data and an alert before the handshake.
        record(23, b"GET / HTTP/1.1\r\n\r\n", 2),
        vec![ALERT, 3, 3, 0, 2, 1, 0],
        cut,
    ];
    attacks.extend((0..20).map(|round| {
        let mut bytes = random(600 + round);
        bytes[..3].copy_from_slice(&[22, 3, 1]);
        bytes
    }));
    for attack in attacks {
        let answer = scene.answer(&attack);
        let begin = &attack[..9.min(attack.len())];
        assert!(answer.is_empty() || answer[0] == ALERT, "{begin:?}: {answer:?}");
    }
    scene.assert_serves();
}

#[test]
fn client_that_leaves_in_the_handshake_or_begins_a_second_one_harms_no_other() {
    let scene = TlsScene::new(&TestCertificate::valid());
    let hello = scene.client.hello();
    for sent in [1, hello.len() / 2, hello.len()] {
        let mut stream = scene.connect();
        stream.write_all(&hello[..sent]).unwrap();
        if sent == hello.len() {
            stream.read_exact(&mut [0; 5]).unwrap();
        }
    }
    let mut established = scene.client.connect().unwrap();
    established.sock.write_all(&hello).unwrap();
    // The daemon cannot decrypt a second hello, so it ends the connection.
    let mut answer = Vec::new();
    let ended = established.read_to_end(&mut answer);
    assert!(ended.is_err() || answer.is_empty(), "{answer:?}");
    scene.assert_serves();
}

#[test]
fn two_hundred_open_handshakes_of_other_addresses_delay_no_client() {
    let scene = TlsScene::new(&TestCertificate::valid());
    let hello = scene.client.hello();
    let open: Vec<TcpStream> = (0..200)
        .map(|number| {
            let from = Ipv4Addr::new(127, 0, 0, 2 + number / 100);
            let mut stream = connect_from(from, scene.client.address);
            stream.write_all(&hello[..hello.len() / 2]).unwrap();
            stream
        })
        .collect();
    scene.assert_serves();
    // More connections of one address than allowed are closed, and others are still served.
    let from = Ipv4Addr::new(127, 0, 0, 4);
    let mut more: Vec<TcpStream> =
        (0..200).map(|_| connect_from(from, scene.client.address)).collect();
    assert_eq!(rest(&mut more[199]), Vec::<u8>::new());
    scene.assert_serves();
    drop((open, more));
    scene.assert_serves();
}

#[test]
fn replaced_certificate_is_used_without_a_restart_also_after_an_expired_one() {
    let expired = TestCertificate::expired();
    let scene = TlsScene::new(&expired);
    let error = scene.client.health(&scene.token).unwrap_err();
    assert!(error.to_string().contains("expired"), "{error}");
    let daemon = scene::daemon_pid(&scene.world);

    let renewed = TestCertificate::valid();
    renewed.write(&scene.world.project());
    let client = scene.client.trusting(&renewed);
    assert_eq!(client.health(&scene.token).unwrap().status, 200);
    // A file that takes the place of the old one, as programs do that renew certificates.
    let again = TestCertificate::valid();
    let new = scene.world.root().join("new");
    fs::create_dir(&new).unwrap();
    again.write(&new);
    for name in [CHAIN, KEY] {
        fs::rename(new.join(name), scene.world.project().join(name)).unwrap();
    }
    assert_eq!(client.trusting(&again).health(&scene.token).unwrap().status, 200);
    assert!(client.health(&scene.token).is_err(), "the earlier certificate is still in use");
    assert_eq!(scene::daemon_pid(&scene.world), daemon);
}

#[test]
fn unusable_file_leaves_the_earlier_certificate_in_use_and_is_reported() {
    let first = TestCertificate::valid();
    let scene = TlsScene::new(&first);
    let folder = scene.world.project();
    let key = folder.join(KEY);
    let faults: [(&str, &dyn Fn()); 5] = [
        ("no chain", &|| fs::write(folder.join(CHAIN), "no chain\n").unwrap()),
        ("another chain", &|| TestCertificate::valid().write_chain(&folder)),
        ("no key", &|| fs::write(&key, "no key\n").unwrap()),
        ("missing", &|| fs::remove_file(&key).unwrap()),
        ("a folder", &|| fs::create_dir(&key).unwrap()),
    ];
    for (what, make) in faults {
        make();
        scene.assert_serves();
        let outcome = scene.world.segue(SERVE);
        assert_eq!(outcome.status, 5, "{what}: {outcome:#?}");
        let name = if what.ends_with("chain") { CHAIN } else { KEY };
        assert!(outcome.stderr.contains(name), "{what}: {outcome:#?}");
        assert!(outcome.stderr.contains("--tls-key"), "{what}: {outcome:#?}");
        scene.assert_serves();
    }
    // A daemon that starts with unusable files works on without listening, and reports why.
    kill_daemon(&scene.world);
    let report = scene.world.json(["serve", "--json"]);
    assert_eq!(report["state"], "failed", "{report}");
    assert!(report["error"].as_str().unwrap().contains(KEY), "{report}");
    fs::remove_dir(&key).unwrap();
    first.write(&folder);
    let client = TlsClient::listen(&scene.world, &first);
    assert_eq!(client.health(&scene.token).unwrap().status, 200);
}

#[test]
fn certificate_of_a_client_is_no_substitute_for_a_token() {
    let certificate = TestCertificate::valid();
    let scene = TlsScene::new(&certificate);
    for own in [&certificate, &TestCertificate::valid(), &TestCertificate::expired()] {
        let client = scene.client.showing(&certificate, own);
        assert_eq!(client.health(&scene.token).unwrap().status, 200);
        let refused = client.health("").unwrap();
        assert_eq!((refused.status, &refused.body["kind"]), (401, &json!("unauthorized")));
    }
}

#[test]
fn delivery_over_tls_is_stored_and_the_same_over_plain_http_is_not() {
    let world = world();
    scene::write_shop(&world, "");
    let rule = "on = \"issue.assigned\"\nagent = \"coder\"";
    let scene = DispatchScene::new(world, &[rule]);
    let certificate = TestCertificate::valid();
    certificate.write(&scene.world.project());
    let client = TlsClient::listen(&scene.world, &certificate);
    let number = scene.forge.change(|state| state.add_issue(REPOSITORY, "It", &["segue-bot"]));
    let event = ("issues", "assigned", "ada");
    let subject = ForgeSubject::Issue(number);
    let mut delivery = scene.delivery(subject, event, DeliveredDetail::Assignee("segue-bot"));
    let request = |ServedDelivery { headers, body }: &ServedDelivery| {
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        client.plain().delivery("hub", &headers, body)
    };
    let signed = request(&delivery);
    assert_eq!(client.plain().raw(&signed).status, 0);
    assert_eq!(scene.processed(), Vec::<Value>::new());
    assert_eq!(client.send(&signed).unwrap().status, 202);
    assert_eq!(client.send(&signed).unwrap().status, 200);
    delivery.headers.retain(|(name, _)| name != "x-hub-signature-256");
    assert_eq!(client.send(&request(&delivery)).unwrap().status, 401);
    let tasks = scene.ended_tasks();
    assert_eq!((tasks.len(), &tasks[0]["state"]), (1, &json!("done")), "{tasks:#?}");
}

#[test]
fn connection_that_ends_in_the_middle_of_a_request_leaves_nothing() {
    let scene = TlsScene::new(&TestCertificate::valid());
    let mut half = scene.client.connect().unwrap();
    let head = b"POST /v1/tokens HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n";
    half.write_all(head).unwrap();
    // The TCP connection ends without the end of TLS, as if someone had cut it.
    half.sock.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    let _closed = half.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP/1.1 2"), "{answer:?}");
    scene.assert_serves();
}
