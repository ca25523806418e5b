//! What browsers, pages of other sites and guests of one session can do.

use std::net::Ipv4Addr;

use segue_testkit::scene::{kill_daemon, text};
use segue_testkit::tls_client::{CHAIN, KEY};
use segue_testkit::web_client::{code_of, log_in, login_code, protocols};
use segue_testkit::{NetworkClient, TerminalClient, TestCertificate, WebBrowser, World};
use serde_json::{Value, json};

use crate::network::{routes, visit};
use crate::world;

/// The answers to a browser that a route accepts may be any but these.
const REFUSED: [u16; 2] = [401, 403];

/// The names and the values of headers.
type Headers<'a> = &'a [(&'a str, &'a str)];

/// Creates a world in which the demo agents with these names have answered.
fn world_with(names: &[&str]) -> (World, NetworkClient) {
    let world = world();
    for name in names {
        world.ok(["run", "-d", "--vendor", "demo", "--name", name, "hello"]);
        world.ok(["wait", name]);
    }
    let client = NetworkClient::listen(&world);
    (world, client)
}

fn id_of(world: &World, name: &str) -> String {
    text(&world.session(name), "id").to_owned()
}

fn share(world: &World, name: &str, expires: &str) -> Value {
    world.json(["share", name, "--expires", expires, "--json"])
}

fn guest(world: &World, client: &NetworkClient, name: &str) -> WebBrowser {
    let link = share(world, name, "1h");
    WebBrowser::with_code(client, &code_of(text(&link, "url"))).unwrap()
}

#[test]
fn login_link_works_once() {
    let (world, client) = world_with(&[]);
    let code = login_code(&world, &[]);
    let answer = log_in(&client, &code);
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let cookie = answer.header("set-cookie").unwrap();
    for word in ["segue_web=", "HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    let again = log_in(&client, &code);
    assert_eq!((again.status, &again.body["kind"]), (401, &json!("unauthorized")));
    assert!(again.header("set-cookie").is_none(), "{}", again.text);
    assert_eq!(log_in(&client, "wrong").status, 401);
    // Neither a code nor a secret of the browser is a token of a program.
    let cookie = cookie.split(['=', ';']).nth(1).unwrap();
    for text in [code.as_str(), cookie, text(&answer.body, "page_key")] {
        assert_eq!(client.with_token(text).get("/v1/sessions").status, 401);
    }
}

#[test]
fn login_survives_a_restart_of_the_daemon_until_the_browser_logs_out() {
    let (world, client) = world_with(&[]);
    let browser = WebBrowser::log_in(&world, &client, &[]);
    let session = browser.get("/v1/web/session").body;
    assert_eq!((&session["scopes"], &session["session"]), (&json!(["admin"]), &json!(null)));
    assert!(session["expires_at"].is_string(), "{session}");
    kill_daemon(&world);
    world.ok(["ls"]);
    assert_eq!(browser.get("/v1/sessions").status, 200);
    let listed = world.json(["token", "ls", "--json"]);
    assert_eq!(listed["tokens"][0]["kind"], "browser", "{listed}");
    let out = browser.post("/v1/web/logout", &json!({}));
    assert_eq!(out.status, 204, "{}", out.text);
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"), "{}", out.text);
    assert_eq!(browser.get("/v1/sessions").status, 401);
    assert!(world.json(["token", "ls", "--json"])["tokens"].as_array().unwrap().is_empty());
}

#[test]
fn secrets_of_browsers_and_codes_are_stored_nowhere() {
    let (world, client) = world_with(&["fox"]);
    let code = login_code(&world, &[]);
    let browser = WebBrowser::with_code(&client, &code).unwrap();
    let link = code_of(text(&share(&world, "fox", "1h"), "url"));
    kill_daemon(&world);
    let cookie = browser.cookie.split_once('=').unwrap().1.to_owned();
    visit(world.root(), &mut |path, bytes| {
        for secret in [&code, &cookie, &link, &browser.page_key] {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "a secret is in {}", path.display());
        }
    });
}

#[test]
fn page_of_another_origin_cannot_use_the_login_of_a_browser() {
    let (world, client) = world_with(&[]);
    let browser = WebBrowser::log_in(&world, &client, &[]);
    let (own, other_port) = (browser.origin(), "http://127.0.0.1:1".to_owned());
    let (cookie, page_key) = (browser.cookie.as_str(), browser.page_key.as_str());
    let table: [(&str, Headers<'_>, u16); 11] = [
        ("POST", &[("origin", &own)], 200),
        ("POST", &[("sec-fetch-site", "same-origin")], 200),
        ("POST", &[], 403),
        ("POST", &[("origin", "https://evil.example")], 403),
        ("POST", &[("origin", &other_port)], 403),
        ("POST", &[("origin", "null")], 403),
        ("POST", &[("origin", &own), ("sec-fetch-site", "same-site")], 403),
        ("POST", &[("origin", &own), ("sec-fetch-site", "cross-site")], 403),
        ("GET", &[("sec-fetch-site", "same-site")], 403),
        ("GET", &[("sec-fetch-site", "none")], 403),
        ("GET", &[("host", "rebound.example.com")], 403),
    ];
    for (method, headers, status) in table {
        let mut headers = headers.to_vec();
        headers.extend([("cookie", cookie), ("segue-page-key", page_key)]);
        let (path, body) = match method {
            "POST" => ("/v1/usage", json!({"by": "agent"})),
            _ => ("/v1/sessions", json!({})),
        };
        let answer = client.ask(method, path, Some(&body), &headers);
        assert_eq!(answer.status, status, "{method} {headers:?}: {}", answer.text);
        assert!(!answer.text.to_lowercase().contains("access-control"), "{}", answer.text);
    }
    for headers in [[("origin", "https://evil.example")], [("host", "rebound.example.com")]] {
        let code = json!({"code": login_code(&world, &[])});
        assert_eq!(client.ask("POST", "/v1/web/login", Some(&code), &headers).status, 403);
        assert_eq!(client.ask("GET", "/", None, &headers).status, 403);
    }
}

/// The secrets with which the requests of a table are sent: a cookie, a page key, or both.
fn wrong_secrets(own: &WebBrowser, other: &WebBrowser) -> Vec<(&'static str, Vec<String>)> {
    let (cookie, page_key) = (own.cookie.clone(), own.page_key.clone());
    let value = own.cookie.split_once('=').unwrap().1.to_owned();
    let pair = |cookie: &str, page_key: &str| vec![cookie.to_owned(), page_key.to_owned()];
    vec![
        ("the cookie alone", vec![cookie.clone()]),
        ("the page key alone", pair("", &page_key)),
        ("the page key of another login", pair(&cookie, &other.page_key)),
        ("the cookie of another login", pair(&other.cookie, &page_key)),
        ("the cookie as page key", pair(&cookie, &value)),
        ("the page key as cookie", pair(&format!("segue_web={page_key}"), &page_key)),
        ("an empty page key", pair(&cookie, "")),
        ("a page key that begins well", pair(&cookie, &page_key[..page_key.len() - 1])),
        ("both secrets as page key", pair(&cookie, &format!("{value} {page_key}"))),
    ]
}

/// A program at another port of this machine gets the cookie of a browser that opens its page, and
/// can send any headers. It does not get the page key.
#[test]
fn cookie_without_the_page_key_of_its_login_is_refused_on_every_route() {
    let (world, client) = world_with(&["fox"]);
    let own = WebBrowser::log_in(&world, &client, &[]);
    let other = WebBrowser::log_in(&world, &client, &[]);
    let (origin, fox) = (own.origin(), id_of(&world, "fox"));
    let routes = routes();
    assert!(routes.len() > 40, "{routes:?}");
    for (number, (what, secrets)) in wrong_secrets(&own, &other).into_iter().enumerate() {
        for (index, (method, path, _)) in routes.iter().enumerate() {
            // An address may send few requests without a login.
            let number = u8::try_from(number + 1).unwrap();
            let from = Ipv4Addr::new(127, 1, number, u8::try_from(index + 1).unwrap());
            let mut headers = vec![("origin", origin.as_str()), ("sec-fetch-site", "same-origin")];
            let names = ["cookie", "segue-page-key"];
            let sent = names.into_iter().zip(secrets.iter().map(String::as_str));
            headers.extend(sent.filter(|(name, value)| *name != "cookie" || !value.is_empty()));
            let path = path.replace("0198f9d2-0000-7000-8000-000000000001", &fox);
            let answer = client.from_address(from).ask(method, &path, Some(&json!({})), &headers);
            let refused = (answer.status, &answer.body["kind"]);
            assert_eq!(refused, (401, &json!("unauthorized")), "{what}: {method} {path}");
            assert!(answer.header("set-cookie").is_none(), "{what}: {}", answer.text);
        }
    }
    assert_eq!(own.get("/v1/sessions").status, 200);
    assert_eq!(other.get("/v1/sessions").status, 200);
}

#[test]
fn page_key_that_is_sent_twice_or_in_the_wrong_place_is_refused() {
    let (world, client) = world_with(&["fox"]);
    let browser = WebBrowser::log_in(&world, &client, &[]);
    let (cookie, page_key) = (browser.cookie.as_str(), browser.page_key.as_str());
    let protocols = protocols(page_key);
    let table: [Headers<'_>; 3] = [
        &[("cookie", cookie), ("segue-page-key", page_key), ("segue-page-key", page_key)],
        &[("cookie", cookie), ("sec-websocket-protocol", &protocols)],
        &[("cookie", cookie), ("authorization", "Basic x"), ("segue-page-key", page_key)],
    ];
    for headers in table {
        let answer = client.ask("GET", "/v1/sessions", None, headers);
        assert_eq!(answer.status, 401, "{headers:?}: {}", answer.text);
    }
    // A page key in the address would be in logs and in the history, so it is not read there.
    let path = format!("/v1/sessions?segue-page-key={page_key}");
    assert_eq!(client.ask("GET", &path, None, &[("cookie", cookie)]).status, 401);
    let incomplete = client.ask("GET", "/v1/web/session", None, &[("cookie", cookie)]);
    assert!(text(&incomplete.body, "message").contains("incomplete"), "{}", incomplete.text);
    let stranger = client.get("/v1/web/session");
    assert!(text(&stranger.body, "message").contains("not logged in"), "{}", stranger.text);
    // A page whose cookie is gone is told so on every route, and not that it needs a token.
    let headers = [("segue-page-key", page_key)];
    let logged_out = client.ask("GET", "/v1/sessions", None, &headers);
    assert!(text(&logged_out.body, "message").contains("not logged in"), "{}", logged_out.text);
}

#[test]
fn browser_with_the_scope_read_cannot_type() {
    let (world, client) = world_with(&["fox"]);
    let id = id_of(&world, "fox");
    let browser = WebBrowser::log_in(&world, &client, &["read"]);
    assert_eq!(browser.terminal(&id, "access=control").unwrap_err().status, 403);
    let reader = client.with_scopes(&world, "reader", &["read"]);
    let refused = TerminalClient::open(&reader, &id, "access=control", &[]).unwrap_err();
    assert_eq!(refused.status, 403, "{}", refused.text);
    let sender = client.with_scopes(&world, "sender", &["send"]);
    assert_eq!(TerminalClient::open(&sender, &id, "access=view", &[]).unwrap_err().status, 403);

    let mut terminal = browser.terminal(&id, "access=view").unwrap();
    terminal.input("remember the word amber\r");
    let notice = terminal.wait_notice("refused", |_| true);
    assert!(text(&notice, "message").contains("only watches"), "{notice}");
    terminal.request(&json!({"type": "resize", "rows": 5, "columns": 20}));
    terminal.wait_notice("refused", |_| true);
    let screen = browser.get(&format!("/v1/sessions/{id}/screen"));
    assert!(!screen.text.contains("amber"), "{}", screen.text);
    assert_eq!(browser.post("/v1/send", &json!({})).status, 403);
}

#[test]
fn terminal_is_refused_before_the_upgrade() {
    let (world, client) = world_with(&["fox"]);
    let id = id_of(&world, "fox");
    let browser = WebBrowser::log_in(&world, &client, &[]);
    let other = WebBrowser::log_in(&world, &client, &[]);
    let (cookie, own) = (browser.cookie.as_str(), browser.origin());
    let wrong = format!("segue_web=segue_{}", "0".repeat(64));
    let (key, keys) = (protocols(&browser.page_key), protocols(&other.page_key));
    let twice = format!("{key}, segue.page-key.{}", browser.page_key);
    let protocol = "sec-websocket-protocol";
    let table: [(Headers<'_>, u16); 13] = [
        (&[], 401),
        (&[("origin", &own)], 401),
        (&[("origin", &own), (protocol, &key)], 401),
        (&[("cookie", &wrong), ("origin", &own), (protocol, &key)], 401),
        (&[("cookie", cookie), ("origin", &own)], 401),
        (&[("cookie", cookie), ("origin", &own), (protocol, "segue.terminal")], 401),
        (&[("cookie", cookie), ("origin", &own), (protocol, &keys)], 401),
        (&[("cookie", cookie), ("origin", &own), (protocol, &twice)], 401),
        (&[("cookie", cookie), ("origin", &own), ("segue-page-key", &browser.page_key)], 401),
        (&[("cookie", cookie), (protocol, &key)], 403),
        (&[("cookie", cookie), ("origin", "https://evil.example"), (protocol, &key)], 403),
        (&[("cookie", cookie), ("origin", "http://127.0.0.1:1"), (protocol, &key)], 403),
        (
            &[
                ("cookie", cookie),
                ("origin", &own),
                ("sec-fetch-site", "same-site"),
                (protocol, &key),
            ],
            403,
        ),
    ];
    for (headers, status) in table {
        let refused = TerminalClient::open(&client, &id, "access=view", headers).unwrap_err();
        assert_eq!(refused.status, status, "{headers:?}: {}", refused.text);
    }
    let head = browser.terminal(&id, "access=view").unwrap().head.to_lowercase();
    assert!(head.contains("sec-websocket-protocol: segue.terminal\r\n"), "{head}");
    assert!(!head.contains(&browser.page_key), "{head}");
    let unknown = "0198f9d2-0000-7000-8000-000000000001";
    assert_eq!(browser.terminal(unknown, "access=view").unwrap_err().status, 404);
    assert_eq!(browser.terminal(&id, "access=own").unwrap_err().status, 400);
    world.ok(["stop", "fox"]);
    assert_eq!(browser.terminal(&id, "access=view").unwrap_err().status, 409);
}

#[test]
fn revoked_browser_loses_its_terminal() {
    let (world, client) = world_with(&["fox"]);
    let browser = WebBrowser::log_in(&world, &client, &[]);
    let other = WebBrowser::log_in(&world, &client, &[]);
    let id = id_of(&world, "fox");
    let mut terminal = browser.terminal(&id, "access=control&rows=30&columns=90").unwrap();
    let mut of_other = other.terminal(&id, "access=view").unwrap();
    let name = text(&world.json(["token", "ls", "--json"])["tokens"][0], "name").to_owned();
    let revoked = world.command(["token", "revoke", &name]).output().unwrap();
    assert!(revoked.status.success());
    assert_eq!(terminal.wait_closed(), Some(1001));
    assert_eq!(browser.get("/v1/sessions").status, 401);
    of_other.request(&json!({"type": "ping", "id": 7}));
    assert_eq!(of_other.wait_notice("pong", |_| true)["id"], 7);
}

#[test]
fn expired_or_revoked_link_to_a_session_is_refused() {
    let (world, client) = world_with(&["fox"]);
    let id = id_of(&world, "fox");
    let short = code_of(text(&share(&world, "fox", "1s"), "url"));
    // It expires while the daemon does nothing, so the clock is the only event.
    let refused = (0..).find_map(|_| WebBrowser::with_code(&client, &short).err()).unwrap();
    assert!([401, 429].contains(&refused.status), "{}", refused.text);

    let link = share(&world, "fox", "1h");
    let guest = WebBrowser::with_code(&client, &code_of(text(&link, "url"))).unwrap();
    let mut terminal = guest.terminal(&id, "access=view").unwrap();
    let revoked = world.command(["token", "revoke", text(&link, "name")]).output().unwrap();
    assert!(revoked.status.success());
    assert_eq!(terminal.wait_closed(), Some(1001));
    assert_eq!(guest.get(&format!("/v1/sessions/{id}")).status, 401);
    assert_eq!(log_in(&client, &code_of(text(&link, "url"))).status, 401);
}

#[test]
fn link_to_a_session_reaches_only_that_session_on_every_route() {
    let (world, client) = world_with(&["fox", "owl"]);
    let (fox, owl) = (id_of(&world, "fox"), id_of(&world, "owl"));
    let guest = guest(&world, &client, "fox");
    assert_eq!(guest.get("/v1/web/session").body["session"], fox.as_str());
    let placeholder = "0198f9d2-0000-7000-8000-000000000001";
    let mut reached = Vec::new();
    for (method, path, _) in routes() {
        for id in [&fox, &owl] {
            let path = path.replace(placeholder, id);
            let streams = path.ends_with("/follow") || path.ends_with("/stream");
            if path == "/v1/web/logout" || streams {
                continue;
            }
            let answer = guest.ask(&method, &path, &json!({}));
            if !REFUSED.contains(&answer.status) {
                assert!(!answer.text.contains(owl.as_str()), "{method} {path}: {}", answer.text);
                reached.push(format!("{method} {}", path.replace(fox.as_str(), "FOX")));
            }
        }
    }
    reached.dedup();
    let expected = [
        "GET /v1/web/session",
        "GET /v1/sessions/FOX",
        "GET /v1/sessions/FOX/transcript",
        "GET /v1/sessions/FOX/screen",
        "GET /v1/sessions/FOX/terminal",
        "GET /v1/events",
    ];
    assert_eq!(reached, expected);
    for stream in ["/v1/events", "/v1/events/follow", "/v1/events/stream"] {
        assert_eq!(guest.get(&format!("{stream}?sessions={owl}")).status, 403, "{stream}");
        assert_eq!(guest.get(&format!("{stream}?sessions={fox},{owl}")).status, 403, "{stream}");
    }
    assert_eq!(guest.terminal(&owl, "access=view").unwrap_err().status, 403);
    assert_eq!(guest.terminal(&fox, "access=control").unwrap_err().status, 403);
    assert!(guest.terminal(&fox, "access=view").is_ok());
}

#[test]
fn guesses_of_login_codes_are_slowed_down() {
    let (world, client) = world_with(&[]);
    let code = login_code(&world, &[]);
    let guess = |number: usize| log_in(&client, &format!("segue_{number:064x}")).status;
    let statuses: Vec<u16> = (0..100).map(guess).collect();
    assert_eq!(statuses[0], 401);
    assert!(statuses.iter().filter(|status| **status == 429).count() > 30, "{statuses:?}");
    assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
    assert_eq!(log_in(&client, &code).status, 200, "guesses of others do not lock the user out");
}

#[test]
fn login_request_is_small_and_anything_larger_is_refused() {
    let (_world, client) = world_with(&[]);
    let answer = client.post("/v1/web/login", &json!({"code": "x".repeat(10_000)}));
    assert_eq!(answer.status, 400, "{}", answer.text);
}

#[test]
fn every_answer_of_the_page_has_the_security_headers() {
    let (_world, client) = world_with(&[]);
    let table = [
        ("GET", "/", 200),
        ("HEAD", "/", 200),
        ("GET", "/login", 200),
        ("GET", "/share", 200),
        ("GET", "/inbox", 200),
        ("GET", "/sessions", 200),
        ("GET", "/sessions/x/terminal", 200),
        ("GET", "/tasks", 200),
        ("GET", "/plans", 200),
        ("GET", "/deliveries", 200),
        ("GET", "/usage", 200),
        ("GET", "/worktrees", 200),
        ("GET", "/settings", 200),
        ("GET", "/assets/none.js", 404),
        ("GET", "/assets/../../etc/passwd", 404),
        ("POST", "/", 405),
    ];
    for (method, path, status) in table {
        let answer = client.ask(method, path, None, &[]);
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"));
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{method} {path}");
        }
        assert!(answer.header("permissions-policy").unwrap().contains("camera=()"));
    }
    let index = client.ask("GET", "/", None, &[]);
    let known = [("if-none-match", index.header("etag").unwrap())];
    assert_eq!(client.ask("GET", "/", None, &known).status, 304);
    assert_eq!(index.header("cache-control"), Some("no-cache"));
}

#[test]
fn cookie_is_accepted_only_over_tls_if_the_daemon_speaks_tls() {
    let (world, client) = world_with(&[]);
    let browser = WebBrowser::log_in(&world, &client, &[]);
    TestCertificate::valid().write(&world.project());
    let listen = client.address.to_string();
    let words = ["serve", "--listen", &listen, "--tls-cert", CHAIN, "--tls-key", KEY];
    let served = world.command(words).output().unwrap();
    assert!(served.status.success(), "{served:?}");
    // The same address, without TLS: there is no answer.
    assert_eq!(browser.get("/v1/sessions").status, 0);
    assert_eq!(client.get("/").status, 0);
    let link = world.json(["web", "--no-open", "--json"]);
    assert!(text(&link, "url").starts_with("https://"), "{link}");
}
