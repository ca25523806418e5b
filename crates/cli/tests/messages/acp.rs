//! `segue acp` with the demo agent: threads of an editor are sessions of Segue.

mod clients;

use rustix::process::Signal;
use segue_testkit::acp_packages::assert_schema;
use segue_testkit::editor_client::texts;
use segue_testkit::stand_in::StandIn;
use segue_testkit::{EditorClient, World, conversation, processes, scene};
use serde_json::{Value, json};

use crate::scene::{states, times_received};
use crate::world;

fn agent_texts(updates: &[Value]) -> Vec<String> {
    texts(updates, "agent_message_chunk")
}

fn user_texts(updates: &[Value]) -> Vec<String> {
    texts(updates, "user_message_chunk")
}

/// Returns the session with this id of the protocol, as `segue ls` lists it.
fn listed(world: &World, uri: &str) -> Value {
    let id = uri.strip_prefix("segue://session/").unwrap();
    world.sessions().into_iter().find(|it| it["id"] == id).unwrap()
}

fn name(world: &World, uri: &str) -> String {
    listed(world, uri)["name"].as_str().unwrap().to_owned()
}

fn wait_status(world: &World, uri: &str, status: &str) {
    scene::wait_session(world, &name(world, uri), |it| it["status"] == status);
}

fn of(uri: &str) -> Value {
    json!({"sessionId": uri, "cwd": "/", "mcpServers": []})
}

/// Starts a client, and a session with one turn. Returns the session's id.
fn session(world: &World) -> (EditorClient, String) {
    let mut client = EditorClient::start(world, &["--vendor", "demo"]);
    let session = client.new_session(&world.project());
    let (answer, updates) = client.prompt(&session, "remember the word amber");
    assert_eq!(answer["result"], json!({"stopReason": "end_turn"}), "{answer}");
    assert_eq!(agent_texts(&updates), ["I will remember amber."]);
    assert_eq!(user_texts(&updates), [""; 0], "the editor shows its own prompt itself");
    (client, session)
}

#[test]
fn prompt_is_a_message_and_its_turn_becomes_updates() {
    let world = world();
    let (mut client, session) = session(&world);
    let (answer, updates) = client.prompt(&session, "what is the word?");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(agent_texts(&updates), ["The word is amber."]);
    assert_eq!(states(&world), ["delivered", "delivered"]);
    let found = client.ok("session/list", &json!({}));
    assert_eq!(found["sessions"][0]["sessionId"], session, "{found}");
    assert_eq!(found["sessions"][0]["cwd"], json!(world.project()));
    let elsewhere = client.ok("session/list", &json!({"cwd": "/nowhere"}));
    assert_eq!(elsewhere["sessions"], json!([]));
    let (_, updates) = client.prompt(&session, "/tool 0");
    let calls: Vec<(&Value, &Value)> =
        updates.iter().map(|it| (&it["sessionUpdate"], &it["status"])).collect();
    assert!(calls.contains(&(&json!("tool_call"), &json!("in_progress"))), "{updates:?}");
    assert!(calls.contains(&(&json!("tool_call_update"), &json!("completed"))), "{updates:?}");
    assert_schema(&client.traffic);
    assert!(client.close().success());
    assert_eq!(listed(&world, &session)["status"], "idle", "the agent goes on");
}

#[test]
fn commands_of_the_program_are_offered_and_run() {
    let world = world();
    let mut client = EditorClient::start(&world, &["--vendor", "demo"]);
    let session = client.new_session(&world.project());
    let offered = client.update(|it| it["sessionUpdate"] == "available_commands_update");
    let names: Vec<&str> = offered["availableCommands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["ask", "slow", "tool"]);
    let (answer, _) = client.prompt(&session, "/slow 0");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    // A text that begins like a command, and is none.
    let (answer, _) = client.prompt(&session, "/tmp is a folder");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    let events = scene::event_texts(&world, &name(&world, &session), "message_delivered");
    assert_eq!(events.len(), 2);
    assert_schema(&client.traffic);
}

#[test]
fn mode_and_model_change_with_the_next_prompt_in_the_same_conversation() {
    let world = world();
    let (mut client, session) = session(&world);
    let loaded = client.ok("session/load", &of(&session));
    assert_eq!(loaded["modes"]["currentModeId"], "ask", "{loaded}");
    let begun = client.begin_prompt(&session, "/ask");
    let question = client.question();
    client.choose(&question, &question["params"]["options"][0]["optionId"].clone());
    client.answer(begun);
    client.ok("session/set_mode", &json!({"sessionId": session, "modeId": "auto"}));
    client.update(|it| it["currentModeId"] == "auto");
    let chosen = json!({"sessionId": session, "configId": "model", "value": "large"});
    let options = client.ok("session/set_config_option", &chosen);
    assert_eq!(options["configOptions"][1]["currentValue"], "large", "{options}");
    // It asks nothing now.
    let (answer, updates) = client.prompt(&session, "/ask");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{updates:?}");
    let (_, updates) = client.prompt(&session, "what is the word?");
    assert_eq!(agent_texts(&updates), ["The word is amber."]);
    let found = listed(&world, &session);
    assert_eq!((&found["launches"], &found["model"]), (&json!(2), &json!("large")));
    // The settings stay if the editor is killed.
    processes::send(client.pid(), Signal::KILL);
    client.wait();
    let mut client = EditorClient::start(&world, &[]);
    let loaded = client.ok("session/load", &of(&session));
    assert_eq!(loaded["modes"]["currentModeId"], "auto", "{loaded}");
    assert_schema(&client.traffic);
}

#[test]
fn new_session_can_be_loaded_before_its_first_prompt() {
    let world = world();
    let mut client = EditorClient::start(&world, &["--vendor", "demo"]);
    let session = client.new_session(&world.project());
    assert!(client.close().success());
    let mut client = EditorClient::start(&world, &[]);
    let loaded = client.ok("session/load", &of(&session));
    assert_eq!(loaded["modes"]["currentModeId"], "ask", "{loaded}");
    assert_eq!(client.updates, [json!(null); 0]);
    let (answer, updates) = client.prompt(&session, "remember the word amber");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(agent_texts(&updates), ["I will remember amber."]);
}

#[test]
fn killed_editor_finds_the_same_session_with_its_history() {
    let world = world();
    let (mut client, session) = session(&world);
    let begun = client.begin_prompt(&session, "/slow 1");
    wait_status(&world, &session, "working");
    processes::send(client.pid(), Signal::KILL);
    client.wait();
    wait_status(&world, &session, "idle");
    assert_eq!(times_received(&world, "/slow 1"), 1, "prompt {begun} goes on");
    let mut client = EditorClient::start(&world, &[]);
    client.ok("session/load", &of(&session));
    let prompts = user_texts(&client.updates);
    assert_eq!(prompts, ["remember the word amber", "/slow 1"]);
    assert_eq!(agent_texts(&client.updates)[0], "I will remember amber.");
    let (_, updates) = client.prompt(&session, "what is the word?");
    assert_eq!(agent_texts(&updates), ["The word is amber."]);
    let id = session.strip_prefix("segue://session/").unwrap();
    client.updates.clear();
    client.ok("session/load", &of(id));
    assert_eq!(user_texts(&client.updates).len(), 3, "the id alone is enough");
    assert_schema(&client.traffic);
}

#[test]
fn resume_starts_a_stopped_agent_and_replays_nothing() {
    let world = world();
    let (client, session) = session(&world);
    assert!(client.close().success());
    world.ok(["stop", &name(&world, &session)]);
    let mut client = EditorClient::start(&world, &[]);
    client.ok("session/resume", &of(&session));
    assert_eq!(client.updates, [json!(null); 0]);
    assert_ne!(listed(&world, &session)["pid"], json!(null));
    let (_, updates) = client.prompt(&session, "what is the word?");
    assert_eq!(agent_texts(&updates), ["The word is amber."]);
}

#[test]
fn prompt_brings_a_killed_agent_back_into_its_conversation() {
    let world = world();
    let (mut client, session) = session(&world);
    let editor = client.pid();
    processes::kill_all(|| world.processes().into_iter().filter(|pid| *pid != editor).collect());
    let (answer, updates) = client.prompt(&session, "what is the word?");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert_eq!(agent_texts(&updates), ["The word is amber."]);
    assert_eq!(listed(&world, &session)["launches"], 2);
}

#[test]
fn turns_of_a_terminal_and_of_another_editor_reach_the_editor() {
    let world = world();
    let (mut client, session) = session(&world);
    world.ok(["send", &name(&world, &session), "--wait", "hello there"]);
    client.update(|it| it["content"]["text"] == "hello there");
    assert_eq!(user_texts(&client.updates), ["hello there"]);
    let mut other = EditorClient::start(&world, &[]);
    other.ok("session/resume", &of(&session));
    other.prompt(&session, "what is the word?");
    client.update(|it| it["content"]["text"] == "The word is amber.");
    assert_eq!(user_texts(&client.updates), ["hello there", "what is the word?"]);
    let (_, updates) = client.prompt(&session, "and again?");
    assert_eq!(user_texts(&updates), [""; 0]);
    other.update(|it| it["content"]["text"] == "and again?");
}

#[test]
fn turn_that_is_typed_in_the_terminal_reaches_the_editor() {
    let world = world();
    let (mut client, session) = session(&world);
    conversation::type_text(&world, &listed(&world, &session), "what is the word?\r");
    client.update(|it| it["content"]["text"] == "The word is amber.");
    assert_eq!(user_texts(&client.updates), ["what is the word?"]);
}

#[test]
fn conversation_that_was_handed_over_keeps_its_id_in_the_editor() {
    let world = world();
    let (mut client, session) = session(&world);
    let name = name(&world, &session);
    world.ok(["handoff", &name, "--to", "demo", "--name", "heir"]);
    world.ok(["wait", "heir", "--for", "idle", "--timeout", "170s"]);
    let (answer, updates) = client.prompt(&session, "what is the word?");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert_eq!(agent_texts(&updates), ["The word is amber."]);
    let mut other = EditorClient::start(&world, &[]);
    other.ok("session/load", &of(&session));
    assert_eq!(user_texts(&other.updates), ["remember the word amber", "what is the word?"]);
}

#[test]
fn new_conversation_of_the_same_session_reaches_the_editor() {
    let world = world();
    let (mut client, session) = session(&world);
    let before = listed(&world, &session)["vendor_session_id"].clone();
    conversation::type_text(&world, &listed(&world, &session), "/clear\r");
    let is_other = |it: &Value| it["vendor_session_id"] != before;
    scene::wait_session(&world, &name(&world, &session), is_other);
    let (answer, updates) = client.prompt(&session, "hello again");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert_eq!(agent_texts(&updates).len(), 1, "{updates:?}");
}

#[test]
fn question_goes_to_the_editor_and_its_answer_to_the_agent() {
    let world = world();
    let (mut client, session) = session(&world);
    let prompt = client.begin_prompt(&session, "/ask");
    let question = client.question();
    assert_eq!(question["method"], "session/request_permission");
    let options = question["params"]["options"].as_array().unwrap().clone();
    let kinds: Vec<&Value> = options.iter().map(|it| &it["kind"]).collect();
    assert!(kinds.contains(&&json!("allow_once")), "{question}");
    assert!(kinds.contains(&&json!("reject_once")), "{question}");
    client.choose(&question, &options[0]["optionId"]);
    assert_eq!(client.answer(prompt)["result"]["stopReason"], "end_turn");
    let log = world.ok(["log", &name(&world, &session)]);
    assert!(log.contains("answered"), "{log}");
    assert_schema(&client.traffic);
}

#[test]
fn first_prompt_of_an_agent_asks_the_editor_whether_the_folder_is_trusted() {
    let world = world();
    scene::write_shop(&world, "args = [\"--ask-trust-first\"]\n");
    let mut client = EditorClient::start(&world, &["--agent", "coder"]);
    let session = client.new_session(&world.project());
    let prompt = client.begin_prompt(&session, "remember the word amber");
    let question = client.question();
    let title = &question["params"]["toolCall"]["title"];
    assert_eq!(title, "Do you trust this folder?", "{question}");
    client.choose(&question, &question["params"]["options"][0]["optionId"].clone());
    assert_eq!(client.answer(prompt)["result"]["stopReason"], "end_turn");
    assert_eq!(agent_texts(&client.updates), ["I will remember amber."]);
    assert_eq!(listed(&world, &session)["agent"], "coder");
}

#[test]
fn question_that_is_answered_in_a_terminal_is_taken_back() {
    let world = world();
    let (mut client, session) = session(&world);
    let prompt = client.begin_prompt(&session, "/ask");
    let question = client.question();
    world.ok(["answer", &name(&world, &session), "yes"]);
    assert_eq!(client.answer(prompt)["result"]["stopReason"], "end_turn");
    assert_eq!(client.taken_back, [question["id"].clone()]);
    // A late answer changes nothing.
    client.choose(&question, &json!("1"));
    let (answer, _) = client.prompt(&session, "what is the word?");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_schema(&client.traffic);
}

#[test]
fn cancelled_prompt_interrupts_the_turn_or_refuses_the_question() {
    let world = world();
    let (mut client, session) = session(&world);
    let prompt = client.begin_prompt(&session, "/hang");
    wait_status(&world, &session, "working");
    client.notify("session/cancel", &json!({"sessionId": session}));
    assert_eq!(client.answer(prompt)["result"]["stopReason"], "cancelled");
    wait_status(&world, &session, "idle");
    let prompt = client.begin_prompt(&session, "/ask");
    let question = client.question();
    client.notify("session/cancel", &json!({"sessionId": session}));
    let outcome = json!({"outcome": {"outcome": "cancelled"}});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": outcome}));
    assert_eq!(client.answer(prompt)["result"]["stopReason"], "cancelled");
    wait_status(&world, &session, "idle");
    let (_, updates) = client.prompt(&session, "what is the word?");
    assert!(agent_texts(&updates).contains(&"The word is amber.".to_owned()), "{updates:?}");
    assert_schema(&client.traffic);
}

#[test]
fn queued_prompt_is_taken_back_when_it_is_cancelled() {
    let world = world();
    let (mut client, session) = session(&world);
    world.ok(["send", &name(&world, &session), "--no-wait", "/hang"]);
    wait_status(&world, &session, "working");
    let prompt = client.begin_prompt(&session, "never arrives");
    let queued = |it: &Value| it["queued_messages"] == 1;
    scene::wait_session(&world, &name(&world, &session), queued);
    client.notify("$/cancel_request", &json!({"requestId": prompt}));
    assert_eq!(client.answer(prompt)["result"]["stopReason"], "cancelled");
    assert_eq!(states(&world).last().unwrap(), "cancelled");
    assert_eq!(listed(&world, &session)["status"], "working", "another turn is not interrupted");
}

#[test]
fn daemon_killed_during_a_prompt_loses_and_doubles_nothing() {
    let world = world();
    let (mut client, session) = session(&world);
    let prompt = client.begin_prompt(&session, "/slow 2");
    wait_status(&world, &session, "working");
    scene::kill_daemon(&world);
    assert_eq!(client.answer(prompt)["result"]["stopReason"], "end_turn");
    assert_eq!(times_received(&world, "/slow 2"), 1);
    world.ok(["daemon", "stop"]);
    let (_, updates) = client.prompt(&session, "what is the word?");
    assert_eq!(agent_texts(&updates), ["The word is amber."]);
    assert_eq!(times_received(&world, "what is the word?"), 1);
}

/// The daemon dies before and after it records the message, its typing and its arrival.
#[test]
fn prompt_survives_sigkill_of_the_daemon_at_every_point_of_its_delivery() {
    let points = ["add", "typing", "settle"];
    for point in points.iter().flat_map(|it| ["before", "after"].map(|end| format!("{it}.{end}"))) {
        let mut world = world();
        let (client, session) = session(&world);
        assert!(client.close().success());
        world.ok(["daemon", "stop"]);
        let gate = world.root().join("gate");
        world.set("SEGUE_FAILPOINT", format!("message.{point}"));
        world.set("SEGUE_FAILPOINT_ROLE", "daemon");
        world.set("SEGUE_FAILPOINT_GATE", gate.to_str().unwrap());
        world.ok(["daemon", "start"]);
        let killed = scene::daemon_pid(&world);
        let mut client = EditorClient::start(&world, &[]);
        client.ok("session/resume", &of(&session));
        std::fs::write(&gate, "").unwrap();
        let (answer, updates) = client.prompt(&session, "said once");
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{point}: {answer}");
        assert!(!agent_texts(&updates).is_empty(), "{point}");
        assert_eq!(times_received(&world, "said once"), 1, "{point}");
        assert_ne!(scene::daemon_pid(&world), killed, "{point}: the daemon was killed");
    }
}

#[test]
fn failed_turn_is_an_error_with_its_reason() {
    let world = world();
    let (mut client, session) = session(&world);
    let (answer, _) = client.prompt(&session, "/crash 3");
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    world.ok(["run", "--vendor", "demo", "--headless", "--name", "batch", "hello"]);
    let batch = world.session("batch")["id"].as_str().unwrap().to_owned();
    client.ok("session/load", &of(&batch));
    let (answer, updates) = client.prompt(&batch, "remember the word amber");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert_eq!(agent_texts(&updates), ["I will remember amber."]);
    let (answer, _) = client.prompt(&batch, "/limit");
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("usage limit"), "{answer}");
    assert_schema(&client.traffic);
}

#[test]
fn wrong_requests_get_an_error_that_names_the_mistake() {
    let world = world();
    let (mut client, session) = session(&world);
    let missing = "segue://session/00000000-0000-7000-8000-000000000000";
    let image = json!([{"type": "image", "data": "aaaa", "mimeType": "image/png"}]);
    let table = [
        ("session/load", of(missing), -32002, "no session"),
        ("session/resume", of("fox"), -32002, "`fox`"),
        ("session/prompt", json!({"sessionId": missing, "prompt": []}), -32002, "no session"),
        ("session/prompt", json!({"sessionId": session, "prompt": []}), -32602, "empty"),
        ("session/prompt", json!({"sessionId": session, "prompt": image}), -32602, "not text"),
        ("session/new", json!({"cwd": "here", "mcpServers": []}), -32602, "absolute"),
        ("session/new", json!({"cwd": "/no/where", "mcpServers": []}), -32002, "/no/where"),
        ("session/new", json!({}), -32602, "cwd"),
        ("session/set_mode", of(&session), -32602, "modeId"),
        ("session/fork", of(&session), -32601, "session/fork"),
        ("session/list", json!({"cursor": "x"}), -32602, "cursor"),
    ];
    for (method, params, code, words) in table {
        let answer = client.request(method, &params);
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{method} {params}: {message}");
    }
    let prompt = client.begin_prompt(&session, "/hang");
    let second = client.begin_prompt(&session, "no");
    assert_eq!(client.answer(second)["error"]["code"], -32602);
    client.ok("session/close", &json!({"sessionId": session}));
    assert_eq!(client.answer(prompt)["result"]["stopReason"], "cancelled");
    assert!(client.close().success());
    let mut client = EditorClient::start(&world, &["--vendor", "nobody"]);
    let answer = client.request("session/new", &json!({"cwd": "/", "mcpServers": []}));
    assert!(answer["error"]["message"].as_str().unwrap().contains("nobody"), "{answer}");
}

#[test]
fn only_session_is_what_a_new_thread_shows() {
    let world = world();
    let (client, session) = session(&world);
    assert!(client.close().success());
    world.ok(["run", "-d", "--vendor", "demo", "--name", "other", "hello"]);
    let mut client = EditorClient::start(&world, &["--session", &name(&world, &session)]);
    assert_eq!(client.new_session(&world.project()), session);
    client.update(|it| it["content"]["text"] == "I will remember amber.");
    let found = client.ok("session/list", &json!({}));
    assert_eq!(found["sessions"].as_array().unwrap().len(), 1, "{found}");
    let other = world.session("other")["id"].as_str().unwrap().to_owned();
    let refused = client.request("session/load", &of(&other));
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
    let (_, updates) = client.prompt(&session, "what is the word?");
    assert_eq!(agent_texts(&updates), ["The word is amber."]);
}

#[test]
fn agent_of_the_editor_ends_on_signals_while_its_input_is_open() {
    let world = world();
    let (mut client, session) = session(&world);
    client.begin_prompt(&session, "/hang");
    wait_status(&world, &session, "working");
    for signal in [Signal::TERM, Signal::INT] {
        processes::send(client.pid(), signal);
        assert!(client.wait().success(), "{signal:?}");
        client = EditorClient::start(&world, &[]);
        client.ok("session/resume", &of(&session));
    }
    assert_eq!(listed(&world, &session)["status"], "working", "the agent goes on");
}

#[test]
fn inside_an_agent_only_its_own_sessions_can_be_opened() {
    let world = world();
    world.ok(["run", "-d", "--vendor", "demo", "--name", "secret", "hello"]);
    let secret = world.session("secret")["id"].as_str().unwrap().to_owned();
    world.ok(["run", "-d", "--vendor", "demo", "--name", "inner", "hello"]);
    let agent = StandIn::with_new_daemon(&world, &world.session("inner"));
    let lines = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "session/load", "params": of(&secret)}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let outcome = agent.run(&format!("$SEGUE acp <<'END'\n{lines}END\n"));
    let answers: Vec<Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = |id: u64| answers.iter().find(|it| it["id"] == id).unwrap();
    let titles: Vec<&Value> =
        answer(1)["result"]["sessions"].as_array().unwrap().iter().map(|it| &it["title"]).collect();
    assert_eq!(titles, ["default/inner"]);
    assert!(answer(2)["error"].is_object(), "{}", answer(2));
}
