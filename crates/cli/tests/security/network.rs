//! What clients on a network can do: only what their token allows, and nothing without one.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;

use segue_testkit::NetworkClient;
use segue_testkit::scene::kill_daemon;
use segue_testkit::stand_in::StandIn;
use serde_json::{Value, json};

use crate::world;

/// Returns the routes of the documentation that need a token: method, path and scope. A test of the
/// server compares that table with the router. `webhooks` tests the route that needs a signature,
/// and `web` the one that needs a code.
pub(crate) fn routes() -> Vec<(String, String, String)> {
    let page = include_str!("../../../../docs/http.md");
    let rows = page.lines().filter(|line| line.starts_with("| `") && line.contains("| `/"));
    let cells = |row: &str| {
        let row =
            row.replace(['|', '`'], " ").replace("{id}", "0198f9d2-0000-7000-8000-000000000001");
        let cells: Vec<String> = row.split_whitespace().map(str::to_owned).collect();
        (cells[0].clone(), cells[1].clone(), cells[2].clone())
    };
    rows.map(cells).filter(|(_, _, scope)| !["signed", "public"].contains(&&**scope)).collect()
}

#[test]
fn every_route_refuses_requests_without_a_valid_token_and_without_the_scope() {
    let world = world();
    let client = NetworkClient::listen(&world);
    let wrong = client.with_token(&format!("segue_{}", "0".repeat(64)));
    let routes = routes();
    assert!(routes.len() > 40, "{routes:?}");
    for (index, (method, path, _)) in routes.iter().enumerate() {
        // An address may send few requests without a token, so each route has one of its own.
        let from = Ipv4Addr::new(127, 0, 1, u8::try_from(index + 1).unwrap());
        for client in [&client, &wrong] {
            let client = client.from_address(from);
            let answer = client.ask(method, path, Some(&json!({})), &[]);
            let refused = (answer.status, &answer.body["kind"]);
            assert_eq!(refused, (401, &json!("unauthorized")), "{method} {path}");
        }
    }
    let scopes = ["read", "send", "work"];
    for scope in scopes {
        let client = client.with_scopes(&world, scope, &[scope]);
        for (method, path, needed) in routes.iter().filter(|(_, _, needed)| needed != scope) {
            let answer = client.ask(method, path, Some(&json!({})), &[]);
            assert_eq!(answer.status, 403, "{scope} {method} {path} ({needed}): {}", answer.text);
        }
    }
}

#[test]
fn request_without_a_token_is_refused_before_its_body_is_read() {
    let world = world();
    let client = NetworkClient::listen(&world);
    let address = client.address;
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /v1/list HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: 60000000\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 401");
}

#[test]
fn requests_without_a_token_are_slowed_down_while_a_token_works() {
    let world = world();
    let client = NetworkClient::listen(&world);
    let reader = client.with_scopes(&world, "reader", &["read"]);
    let statuses: Vec<u16> = (0..60).map(|_| client.get("/v1/sessions").status).collect();
    assert_eq!(statuses[0], 401);
    assert!(statuses.contains(&429), "{statuses:?}");
    assert_eq!(reader.get("/v1/sessions").status, 200);
}

#[test]
fn token_does_what_its_scopes_allow_until_it_is_revoked() {
    let world = world();
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "hello"]);
    world.ok(["wait", "fox"]);
    let client = NetworkClient::listen(&world);
    let reader = client.with_scopes(&world, "reader", &["read"]);
    let sender = client.with_scopes(&world, "sender", &["send"]);

    let sessions = reader.get("/v1/sessions");
    assert_eq!(sessions.body["sessions"][0]["address"], "default/fox", "{}", sessions.text);
    let message = |session: &str| {
        json!({
            "caller": {}, "session": session, "text": "remember the word amber",
            "interrupt": false, "until": "turn_ended", "timeout_ms": 60000,
        })
    };
    assert_eq!(reader.post("/v1/send", &message("fox")).status, 403);
    let sent = sender.post("/v1/send", &message("default/fox"));
    assert_eq!(sent.status, 200, "{}", sent.text);
    assert_eq!(sender.get("/v1/sessions").status, 403);

    world.ok(["token", "revoke", "reader"]);
    assert_eq!(reader.get("/v1/sessions").status, 401);
    let listed = world.json(["token", "ls", "--json"]);
    let names: Vec<&str> = listed["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["sender"]);
    assert!(listed["tokens"][0]["last_used_at"].is_string(), "{listed}");
    assert!(!listed.to_string().contains(sender.token()));
}

#[test]
fn expired_token_is_refused() {
    let world = world();
    let client = NetworkClient::listen(&world);
    let created = world.json([
        "token",
        "create",
        "--name",
        "short",
        "--scope",
        "read",
        "--expires",
        "1s",
        "--json",
    ]);
    let short = client.with_token(created["token"].as_str().unwrap());
    // It expires while the daemon does nothing, so the clock is the only event.
    let is_over = |status| status != 200 && status != 429;
    let expired = (0..).map(|_| short.get("/v1/health")).find(|it| is_over(it.status)).unwrap();
    assert_eq!(expired.status, 401, "{}", expired.text);
    assert!(expired.body["message"].as_str().unwrap().contains("expired"), "{}", expired.text);
}

#[test]
fn token_is_stored_nowhere() {
    let world = world();
    let client = NetworkClient::listen(&world);
    let admin = client.with_scopes(&world, "admin", &["admin"]);
    assert_eq!(admin.get("/v1/tokens").status, 200);
    let repeated = admin.post("/v1/tokens", &json!({"name": "admin", "scopes": ["read"]}));
    assert_eq!(repeated.status, 409, "{}", repeated.text);
    kill_daemon(&world);
    let secret = admin.token().strip_prefix("segue_").unwrap().to_owned();
    let mut count = 0;
    visit(world.root(), &mut |path, bytes| {
        count += 1;
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "the token is in {}", path.display());
    });
    assert!(count > 3, "{count} files");
}

/// Calls a function with every file below a folder.
pub(crate) fn visit(folder: &Path, look: &mut impl FnMut(&Path, &[u8])) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            visit(&path, look);
        } else if kind.is_file() {
            look(&path, &fs::read(&path).unwrap());
        }
    }
}

#[test]
fn pages_of_other_sites_cannot_use_the_daemon() {
    let world = world();
    let client = NetworkClient::listen(&world);
    let reader = client.with_scopes(&world, "reader", &["read"]);
    let port = reader.address.port();
    let own = format!("localhost:{port}");
    let table: [(&[(&str, &str)], u16); 7] = [
        (&[("host", &own)], 200),
        (&[("host", &own), ("origin", &format!("http://{own}"))], 200),
        (&[("host", "rebound.example.com")], 403),
        (&[("host", &format!("rebound.example.com:{port}"))], 403),
        (&[("host", &own), ("origin", "https://evil.example")], 403),
        (&[("host", &own), ("origin", "null")], 403),
        (&[("host", &own), ("host", "rebound.example.com")], 400),
    ];
    for (headers, status) in table {
        let answer = reader.ask("GET", "/v1/sessions", None, headers);
        assert_eq!(answer.status, status, "{headers:?}: {}", answer.text);
        assert!(!answer.text.to_lowercase().contains("access-control"), "{}", answer.text);
    }
    let without_host =
        format!("GET /v1/sessions HTTP/1.0\r\nauthorization: Bearer {}\r\n\r\n", reader.token());
    assert_eq!(reader.raw(without_host.as_bytes()).status, 400);
}

#[test]
fn agent_started_over_a_network_gets_the_environment_of_the_login_shell() {
    let world = world();
    world.write("../home/.profile", "export FROM_PROFILE=yes\n");
    let client = NetworkClient::listen(&world);
    let worker = client.with_scopes(&world, "worker", &["work"]);
    let request = |caller: Value| json!({"caller": caller, "prompt": "hello", "vendor": "demo", "name": "fox"});
    let own = json!({"cwd": world.project(), "environment": {"PATH": "/tmp/evil"}});
    let refused = worker.post("/v1/run", &request(own));
    assert_eq!(refused.status, 403, "{}", refused.text);
    assert!(refused.text.contains("environment"), "{}", refused.text);
    assert!(world.sessions().is_empty());
    let loose = json!({
        "caller": {"cwd": world.project()}, "prompt": "hello", "vendor": "demo",
        "permission": "auto",
    });
    assert_eq!(worker.post("/v1/run", &loose).status, 403);
    let started = worker.post("/v1/run", &request(json!({"cwd": world.project()})));
    assert_eq!(started.status, 200, "{}", started.text);
    assert_eq!(world.session("fox")["vendor"], "demo");
}

#[test]
fn broken_and_smuggled_requests_are_refused_and_the_daemon_goes_on() {
    let world = world();
    let client = NetworkClient::listen(&world);
    let reader = client.with_scopes(&world, "reader", &["read"]);
    let head = format!("host: {}\r\nauthorization: Bearer {}\r\n", reader.address, reader.token());
    let long = "x".repeat(200_000);
    let deep = "[".repeat(100_000);
    let requests: Vec<(String, &[u16])> = vec![
        ("\0\0\0\0".to_owned(), &[400, 0]),
        (format!("GET /v1/sessions HTTP/1.1\r\n{head}x: {long}\r\n\r\n"), &[431, 0]),
        (format!("GET /{long} HTTP/1.1\r\n{head}\r\n"), &[414, 431, 0]),
        (
            format!(
                "POST /v1/list HTTP/1.1\r\n{head}content-length: 3\r\ncontent-length: 4\r\n\r\nabcd"
            ),
            &[400, 0],
        ),
        (
            format!(
                "POST /v1/list HTTP/1.1\r\n{head}content-length: 5\r\ntransfer-encoding: chunked\
                 \r\nconnection: close\r\ncontent-type: application/json\r\n\r\n0\r\n\r\n"
            ),
            &[400, 0],
        ),
        (
            format!(
                "POST /v1/list HTTP/1.1\r\n{head}content-type: application/json\r\n\
                 connection: close\r\ncontent-length: {}\r\n\r\n{deep}",
                deep.len()
            ),
            &[400],
        ),
        (
            format!(
                "POST /v1/list HTTP/1.1\r\n{head}content-type: application/json\r\n\
                 connection: close\r\ncontent-length: 999999999999\r\n\r\n{{}}"
            ),
            &[400, 413],
        ),
    ];
    for (request, expected) in requests {
        let answer = reader.raw(request.as_bytes());
        let shown: String = request.chars().take(60).collect();
        assert!(expected.contains(&answer.status), "{shown}: {}", answer.text);
        assert_eq!(reader.get("/v1/health").status, 200, "{shown}");
    }
}

#[test]
fn slow_and_idle_connections_are_closed_and_others_are_served_meanwhile() {
    let world = world();
    let client = NetworkClient::listen(&world);
    let reader = client.with_scopes(&world, "reader", &["read"]);
    let mut slow: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(reader.address).unwrap();
            stream.write_all(b"GET /v1/health HTTP/1.1\r\nhost:").unwrap();
            stream
        })
        .collect();
    slow.push(TcpStream::connect(reader.address).unwrap());
    assert_eq!(reader.get("/v1/health").status, 200);
    for stream in &mut slow {
        let mut rest = Vec::new();
        // Ends when the daemon closes the connection.
        let _closed = stream.read_to_end(&mut rest);
        let text = String::from_utf8_lossy(&rest);
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 4"), "{text}");
    }
    assert_eq!(reader.get("/v1/health").status, 200);
}

#[test]
fn connections_beyond_the_limit_are_closed_and_free_again_later() {
    let world = world();
    let client = NetworkClient::listen(&world);
    let reader = client.with_scopes(&world, "reader", &["read"]);
    let mut many: Vec<TcpStream> =
        (0..400).map(|_| TcpStream::connect(reader.address).unwrap()).collect();
    // The newest connection is over the limit of one address, so it is closed without an answer.
    let mut rest = Vec::new();
    let _closed = many.pop().unwrap().read_to_end(&mut rest);
    assert!(rest.is_empty(), "{rest:?}");
    assert_eq!(world.segue(["ls"]).status, 0, "the socket has no such limit");
    drop(many);
    // The daemon notices the closed connections one after the other.
    assert!((0..1000).any(|_| reader.get("/v1/health").status == 200));
}

#[test]
fn agent_cannot_use_the_network_commands() {
    let world = world();
    world.ok(["run", "-d", "--vendor", "demo", "--name", "coder", "hello"]);
    let coder = world.session("coder");
    let agent = StandIn::with_new_daemon(&world, &coder);
    for command in [
        "serve --listen 127.0.0.1:0",
        "serve",
        "token create --name x --scope admin",
        "token ls",
        "token revoke x",
    ] {
        let outcome = agent.run(&format!("$SEGUE {command}"));
        assert_eq!(outcome.status, 2, "{command}: {outcome:#?}");
        assert!(outcome.stderr.contains("an agent may not change where"), "{outcome:#?}");
    }
}

#[test]
fn name_of_a_token_is_used_once_and_errors_name_the_cure() {
    let world = world();
    world.ok(["token", "create", "--name", "ci", "--scope", "read"]);
    let again = world.segue(["token", "create", "--name", "ci", "--scope", "read"]);
    assert_eq!(again.status, 4, "{again:#?}");
    assert!(again.stderr.contains("segue token revoke ci"), "{again:#?}");
    let unknown = world.segue(["token", "revoke", "cd"]);
    assert_eq!(unknown.status, 3, "{unknown:#?}");
    let scope = world.segue(["token", "create", "--name", "x", "--scope", "everything"]);
    assert_eq!(scope.status, 2, "{scope:#?}");
}
