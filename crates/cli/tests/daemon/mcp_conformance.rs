//! `/mcp` with the protocol's own conformance suite. The suite sends no token, so a proxy adds it.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;

use segue_testkit::{NetworkClient, World};
use serde_json::Value;

use crate::inspector::node;
use crate::world;

/// The stable release, which knows the protocol with a handshake.
const STABLE: (&str, &str) = ("conformance", "0.1.16");

/// The release that knows the protocol without a handshake, and compares every message with the schema.
const NEXT: (&str, &str) = ("conformance-next", "0.2.0-alpha.12");

/// The version of the protocol without a handshake.
const STATELESS: &str = "2026-07-28";

/// Returns the folder in which the suite is installed.
fn place() -> PathBuf {
    let place = std::env::var_os("SEGUE_TEST_MCP_CONFORMANCE").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/mcp-conformance")),
        PathBuf::from,
    );
    assert!(place.join("stamp").is_file(), "run `make mcp-conformance` first");
    place.join("node_modules")
}

/// Passes requests on to the daemon, with a token. Ends with the process of the test.
fn proxy(client: &NetworkClient) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap();
    let (daemon, token) = (client.address, client.token().to_owned());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let token = token.clone();
            std::thread::spawn(move || pass_on(stream, (own, daemon), &token));
        }
    });
    own
}

/// Passes one request on. Each connection has one, so that no later one lacks the token.
fn pass_on(
    mut stream: TcpStream,
    (own, daemon): (SocketAddr, SocketAddr),
    token: &str,
) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        match name.as_str() {
            "connection" | "authorization" => continue,
            // The daemon accepts only its own port. Other hosts are passed on as they are.
            "host" | "origin" => {
                line = line.replace(&format!(":{}", own.port()), &format!(":{}", daemon.port()));
            }
            "content-length" => length = line[name.len() + 1..].trim().parse().unwrap_or(0),
            _ => {}
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut target = TcpStream::connect(daemon)?;
    write!(target, "{head}connection: close\r\nauthorization: Bearer {token}\r\n\r\n")?;
    target.write_all(&body)?;
    io::copy(&mut target, &mut stream)?;
    stream.shutdown(Shutdown::Both)
}

/// Runs a scenario. Returns its checks.
fn run(
    world: &World,
    proxy: SocketAddr,
    (package, version): (&str, &str),
    scenario: &str,
) -> Value {
    let package = place().join(package);
    let about = std::fs::read_to_string(package.join("package.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&about).unwrap()["version"], version);
    let results = tempfile::tempdir_in(world.root()).unwrap();
    let mut command = Command::new(node());
    command.arg(package.join("dist/index.js")).args(["server", "--scenario", scenario]);
    command.arg("--url").arg(format!("http://{proxy}/mcp")).arg("-o").arg(results.path());
    if version == NEXT.1 {
        command.args(["--spec-version", STATELESS]);
    }
    command.env_clear().env("HOME", world.home()).env("PATH", "/usr/bin:/bin");
    let output = command.output().unwrap();
    let folder = std::fs::read_dir(results.path()).unwrap().next();
    let folder = folder.unwrap_or_else(|| panic!("{scenario}: {output:?}")).unwrap().path();
    let checks = std::fs::read_to_string(folder.join("checks.json")).unwrap();
    serde_json::from_str(&checks).unwrap()
}

/// Returns the ids of the checks with a status, with their messages.
fn with_status(checks: &Value, status: &str) -> Vec<(String, String)> {
    let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let checks = checks.as_array().unwrap().iter().filter(|check| check["status"] == status);
    checks.map(|check| (text(check, "id"), text(check, "errorMessage"))).collect()
}

fn scene() -> (World, SocketAddr) {
    let world = world();
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "remember the word amber"]);
    world.ok(["wait", "fox"]);
    let client = NetworkClient::listen(&world);
    let proxy = proxy(&client.with_scopes(&world, "program", &["read", "send", "work"]));
    (world, proxy)
}

#[test]
fn conformance_suite_passes_in_both_forms_of_the_protocol() {
    let (world, proxy) = scene();
    let stable = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"];
    let next = ["tools-list", "dns-rebinding-protection", "http-header-validation", "caching"];
    let all = stable.map(|it| (STABLE, it)).into_iter().chain(next.map(|it| (NEXT, it)));
    for (suite, scenario) in all {
        let checks = run(&world, proxy, suite, scenario);
        assert_eq!(with_status(&checks, "FAILURE"), [], "{suite:?} {scenario}");
        assert_ne!(with_status(&checks, "SUCCESS"), [], "{suite:?} {scenario}: {checks:#}");
    }
}

#[test]
fn stateless_requests_fail_no_check_that_needs_no_tool_of_the_suite() {
    let (world, proxy) = scene();
    let checks = run(&world, proxy, NEXT, "server-stateless");
    let failed = with_status(&checks, "FAILURE");
    let untestable = |(_, message): &&(String, String)| message.starts_with("Not testable: ");
    assert_eq!(failed.iter().filter(untestable).count(), failed.len(), "{failed:#?}");
    assert!(with_status(&checks, "SUCCESS").len() >= 16, "{checks:#}");
}
