//! MCP over HTTP, with tokens.

use segue_testkit::{HttpAnswer, NetworkClient, scene};
use serde_json::{Value, json};

use super::world_with;

/// What the protocol wants a client to accept.
const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

/// Sends a message of the protocol.
fn send(client: &NetworkClient, method: &str, params: &Value) -> HttpAnswer {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    client.ask("POST", "/mcp", Some(&message), &[ACCEPT])
}

/// Calls a tool. Returns whether it failed, and its text.
fn call(client: &NetworkClient, tool: &str, arguments: &Value) -> (bool, String) {
    let answer = send(client, "tools/call", &json!({"name": tool, "arguments": arguments}));
    assert_eq!(answer.status, 200, "{}", answer.text);
    let result = &answer.body["result"];
    let text = result["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("{}", answer.text));
    (result["isError"] == true, text.to_owned())
}

#[test]
fn tools_work_over_http_without_a_session_of_the_protocol() {
    let (_world, client) = world_with(&["alpha"]);
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let answer = send(&client, "initialize", &hello);
    assert_eq!(answer.body["result"]["serverInfo"]["name"], "segue", "{}", answer.text);
    assert_eq!(answer.header("mcp-session-id"), None);
    let answer = send(&client, "tools/list", &json!({}));
    assert!(answer.text.contains("agent_start"), "{}", answer.text);
    let (failed, text) = call(&client, "agent_wait", &json!({"session": "alpha"}));
    assert!(!failed && text.contains("\"reached\":true"), "{text}");
    let (failed, text) = call(&client, "agent_read", &json!({"session": "alpha"}));
    assert!(!failed && text.contains("> hello"), "{text}");
    let (failed, text) = call(&client, "agent_status", &json!({"session": "owl"}));
    assert!(failed && text.contains("`owl`"), "{text}");
}

#[test]
fn each_call_needs_the_scope_of_its_route() {
    let (world, client) = world_with(&["alpha"]);
    let reader = client.with_scopes(&world, "reader", &["read"]);
    let (failed, text) = call(&reader, "agent_list", &json!({}));
    assert!(!failed && text.contains("/alpha"), "{text}");
    let folder = world.project().display().to_string();
    let start = json!({"vendor": "demo", "name": "beta", "folder": folder});
    for (tool, arguments, scope) in [
        ("agent_start", &start, "work"),
        ("agent_send", &json!({"session": "alpha", "text": "x"}), "send"),
        ("agent_answer", &json!({"session": "alpha", "question": "x", "answer": "yes"}), "send"),
        ("agent_handoff", &json!({"session": "alpha", "to": "demo"}), "work"),
    ] {
        let (failed, text) = call(&reader, tool, arguments);
        let expected = format!("use a token with the scope `{scope}`");
        assert!(failed && text.contains(&expected), "{tool}: {text}");
    }
    let mut looser = start.clone();
    looser["permission"] = json!("auto");
    let (failed, text) = call(&client, "agent_start", &looser);
    assert!(failed && text.contains("the scope `admin`"), "{text}");
    let (failed, text) = call(&client, "agent_start", &start);
    assert!(!failed && text.contains("/beta"), "{text}");
    assert_eq!(world.sessions().len(), 2);
}

#[test]
fn plan_is_applied_in_the_folder_that_the_call_names() {
    let (world, client) = world_with(&[]);
    scene::write_agents(&world, "shop", &["coder"]);
    let text = "name = \"release\"\n[tasks.build]\nagent = \"coder\"\nprompt = \"hello\"\n";
    let missing = world.project().join("missing");
    let folder = |folder: &str| json!({"text": text, "folder": folder});
    for (arguments, expected) in [
        (json!({"text": text}), "`folder` is needed".to_owned()),
        (folder("project"), "`folder` must be an absolute path, got `project`".to_owned()),
        (folder(missing.to_str().unwrap()), format!("`{}`", missing.display())),
        (folder("/"), "no `segue.toml` is in `/` or above it".to_owned()),
    ] {
        let (failed, text) = call(&client, "plan_apply", &arguments);
        assert!(failed && text.contains(&expected), "{arguments}: {text}");
    }
    assert_eq!(world.json(["plan", "ls", "--all", "--json"])["plans"], json!([]));
    let own = folder(world.project().to_str().unwrap());
    let (failed, text) = call(&client, "plan_apply", &own);
    assert!(!failed && text.contains("shop/release"), "{text}");
    let (failed, text) = call(&client, "plan_apply", &own);
    assert!(!failed && text.contains("\"unchanged\":1"), "{text}");
    let (failed, text) = call(&client, "plan_show", &json!({"plan": "shop/release"}));
    assert!(!failed && text.contains("\"build\""), "{text}");
    let reader = client.with_scopes(&world, "reader", &["read"]);
    let (failed, text) = call(&reader, "plan_apply", &own);
    assert!(failed && text.contains("use a token with the scope `work`"), "{text}");
}

#[test]
fn task_is_added_in_the_folder_that_the_call_names() {
    let (world, client) = world_with(&[]);
    scene::write_agents(&world, "shop", &["coder"]);
    let task = json!({"prompt": "hello", "agent": "coder"});
    let (failed, text) = call(&client, "task_add", &task);
    assert!(failed && text.contains("`folder` is needed"), "{text}");
    let mut own = task;
    own["folder"] = json!(world.project());
    let (failed, text) = call(&client, "task_add", &own);
    assert!(!failed, "{text}");
    assert_eq!(world.json(["task", "ls", "--all", "--json"])["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn request_without_a_token_or_of_another_page_is_refused() {
    let (world, client) = world_with(&[]);
    let stranger = NetworkClient::of(client.address);
    assert_eq!(send(&stranger, "tools/list", &json!({})).status, 401);
    let writer = client.with_scopes(&world, "writer", &["send"]);
    assert_eq!(send(&writer, "tools/list", &json!({})).status, 403);
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    for header in [("host", "rebound.example.org"), ("origin", "https://evil.example.org")] {
        let answer = client.ask("POST", "/mcp", Some(&message), &[ACCEPT, header]);
        assert!((400..500).contains(&answer.status), "{header:?}: {}", answer.text);
    }
    assert_eq!(client.get("/mcp").status, 405);
    let wrong = client.ask("POST", "/mcp", Some(&json!("x")), &[ACCEPT]);
    assert!((400..500).contains(&wrong.status), "{}", wrong.text);
}
