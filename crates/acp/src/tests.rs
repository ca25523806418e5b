//! The agent with a daemon in memory.

use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Write as _};
use std::sync::Arc;

use segue_core::model::{EventPayload, Role, Turn};
use serde_json::{Value, json};

use crate::agent::AcpSettings;
use crate::fake::{FakeEditorPort, MESSAGE, SESSION, URI, report, view, works};
use crate::stdio::serve;

/// An editor with an agent.
struct TestEditor {
    daemon: Arc<FakeEditorPort>,
    input: Option<PipeWriter>,
    output: BufReader<PipeReader>,
    served: tokio::task::JoinHandle<segue_core::Result<()>>,
}

impl TestEditor {
    fn start(settings: AcpSettings) -> Self {
        let daemon = FakeEditorPort::new();
        let (input, written) = std::io::pipe().unwrap();
        let (read, output) = std::io::pipe().unwrap();
        let served = tokio::spawn(serve(Arc::clone(&daemon) as _, settings, input, output));
        Self { daemon, input: Some(written), output: BufReader::new(read), served }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn begin(&mut self, id: u64, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn prompt(&mut self, id: u64, text: &str) {
        let prompt = json!([{"type": "text", "text": text}]);
        self.begin(id, "session/prompt", &json!({"sessionId": URI, "prompt": prompt}));
    }

    /// Reads the next message.
    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }

    /// Reads messages until one has this method or this id.
    fn until(&mut self, name: &str, value: &Value) -> Value {
        loop {
            let message = self.read();
            if message[name] == *value {
                return message;
            }
        }
    }

    fn request(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.begin(id, method, params);
        self.until("id", &json!(id))
    }

    /// Closes the input, and waits for the end of the agent.
    async fn end(mut self) {
        drop(self.input.take());
        self.served.await.unwrap().unwrap();
    }
}

fn editor() -> TestEditor {
    TestEditor::start(AcpSettings::default())
}

fn question(changes: &Value) -> Value {
    let mut dialog = json!({
        "id": "q1", "kind": "permission", "question": "Run ls?", "choices": ["Yes", "No, stop"],
        "answer": "segue answer default/fox yes --question q1",
    });
    for (name, value) in changes.as_object().into_iter().flatten() {
        dialog[name] = value.clone();
    }
    json!({"status": "waiting", "waiting_for": "permission", "dialog": dialog})
}

#[tokio::test(flavor = "multi_thread")]
async fn initialize_announces_only_what_there_is() {
    let mut editor = editor();
    let answer = editor.request(1, "initialize", &json!({"protocolVersion": 2}));
    let result = &answer["result"];
    assert_eq!(result["protocolVersion"], 1);
    let able = &result["agentCapabilities"];
    assert_eq!(able["promptCapabilities"]["image"], false);
    assert_eq!(
        (&able["loadSession"], &able["sessionCapabilities"]["resume"]),
        (&json!(true), &json!({}))
    );
    assert!(editor.daemon.calls().is_empty(), "no daemon is needed for it");
    editor.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_lines_are_answered_and_the_next_line_is_read() {
    let mut editor = editor();
    for (line, code) in [("{", -32700), ("[]", -32700), ("{}", -32600)] {
        writeln!(editor.input.as_mut().unwrap(), "{line}\n\n").unwrap();
        assert_eq!(editor.read()["error"]["code"], code, "{line}");
    }
    editor.send(&json!({"jsonrpc": "2.0", "id": 99, "result": {}}));
    editor.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {}}));
    editor.send(&json!({"jsonrpc": "2.0", "id": null, "method": "nothing"}));
    assert_eq!(editor.read()["error"]["code"], -32601);
    editor.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_is_answered_after_the_last_update() {
    let mut editor = editor();
    editor.request(1, "session/new", &json!({"cwd": "/code", "mcpServers": []}));
    editor.prompt(2, "hello");
    editor.daemon.turns.lock().unwrap().push(Turn::new(Role::Assistant, "hi"));
    let idle = view(&json!({}));
    editor.daemon.waits.send(report(&idle, "delivered", true)).await.unwrap();
    let update = editor.read();
    assert_eq!(update["params"]["update"]["content"]["text"], "hi");
    assert_eq!(update["params"]["sessionId"], URI);
    assert_eq!(editor.read()["result"]["stopReason"], "end_turn");
    let calls = editor.daemon.calls();
    assert_eq!(calls, ["run in /code", "conversation Beginning", "send hello", "wait None"]);
    editor.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn question_is_answered_by_its_id_and_not_asked_again() {
    let mut editor = editor();
    editor.prompt(1, "hello");
    let asking = view(&question(&json!({})));
    *editor.daemon.view.lock().unwrap() = asking.clone();
    editor.daemon.waits.send(report(&asking, "delivered", false)).await.unwrap();
    let asked = editor.until("method", &json!("session/request_permission"));
    let options = json!([
        {"optionId": "1", "name": "Yes", "kind": "allow_once"},
        {"optionId": "2", "name": "No, stop", "kind": "reject_once"},
    ]);
    assert_eq!(asked["params"]["options"], options);
    assert_eq!(asked["params"]["toolCall"]["title"], "Run ls?");
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "2"}});
    editor.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": outcome}));
    let idle = view(&json!({}));
    editor.daemon.waits.send(report(&idle, "delivered", true)).await.unwrap();
    assert_eq!(editor.until("id", &json!(1))["result"]["stopReason"], "end_turn");
    let calls = editor.daemon.calls();
    assert_eq!(calls[2..], ["wait None", "answer q1 2", "wait Some(\"q1\")"]);
    editor.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn question_that_disappears_is_taken_back_and_never_answered() {
    let mut editor = editor();
    editor.prompt(1, "hello");
    let asking = view(&question(&json!({})));
    *editor.daemon.view.lock().unwrap() = asking.clone();
    editor.daemon.waits.send(report(&asking, "delivered", false)).await.unwrap();
    let asked = editor.until("method", &json!("session/request_permission"));
    // An event that leaves the question open.
    let renamed = EventPayload::Renamed { from: "default/a".into(), to: "default/fox".into() };
    editor.daemon.events.send(renamed).await.unwrap();
    let update = editor.until("method", &json!("session/update"));
    assert_eq!(update["params"]["update"]["title"], "default/fox");
    let idle = view(&json!({}));
    *editor.daemon.view.lock().unwrap() = idle.clone();
    editor.daemon.events.send(works()).await.unwrap();
    let taken_back = editor.until("method", &json!("$/cancel_request"));
    assert_eq!(taken_back["params"]["requestId"], asked["id"]);
    editor.daemon.waits.send(report(&idle, "delivered", true)).await.unwrap();
    editor.until("id", &json!(1));
    assert!(!editor.daemon.calls().iter().any(|it| it.starts_with("answer")));
    editor.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn question_that_needs_the_screen_is_shown_as_a_message() {
    let attach = question(&json!({"answer": "segue attach default/fox"}));
    let unreadable = json!({"status": "waiting", "waiting_for": "permission"});
    for (asking, known) in [(attach, "q1"), (unreadable, "")] {
        let mut editor = editor();
        editor.prompt(1, "hello");
        let asking = view(&asking);
        editor.daemon.waits.send(report(&asking, "delivered", false)).await.unwrap();
        let note = editor.until("method", &json!("session/update"));
        let note = note["params"]["update"]["content"]["text"].as_str().unwrap().to_owned();
        assert!(note.contains("segue attach default/fox"), "{note}");
        editor.daemon.waits.send(report(&view(&json!({})), "delivered", true)).await.unwrap();
        assert_eq!(editor.until("id", &json!(1))["result"]["stopReason"], "end_turn");
        assert_eq!(editor.daemon.calls().last().unwrap(), &format!("wait Some({known:?})"));
        editor.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_question_is_refused_and_the_turn_interrupted() {
    let mut editor = editor();
    *editor.daemon.cancels.lock().unwrap() = false;
    editor.prompt(1, "hello");
    let asking = view(&question(&json!({})));
    *editor.daemon.view.lock().unwrap() = asking.clone();
    editor.daemon.waits.send(report(&asking, "delivered", false)).await.unwrap();
    let asked = editor.until("method", &json!("session/request_permission"));
    let outcome = json!({"outcome": {"outcome": "cancelled"}});
    editor.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": outcome}));
    editor.daemon.waits.send(report(&view(&json!({})), "delivered", true)).await.unwrap();
    assert_eq!(editor.until("id", &json!(1))["result"]["stopReason"], "cancelled");
    let calls = editor.daemon.calls();
    assert_eq!(calls[3..], ["answer q1 no", "cancel", "interrupt", "wait None"]);
    editor.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn editor_that_is_gone_answers_no_question_and_cancels_nothing() {
    let mut editor = editor();
    editor.prompt(1, "hello");
    let asking = view(&question(&json!({})));
    *editor.daemon.view.lock().unwrap() = asking.clone();
    editor.daemon.waits.send(report(&asking, "delivered", false)).await.unwrap();
    editor.until("method", &json!("session/request_permission"));
    let daemon = Arc::clone(&editor.daemon);
    editor.end().await;
    assert_eq!(daemon.calls(), ["conversation End", "send hello", "wait None"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_that_does_not_arrive_is_an_error_or_a_note() {
    let mut editor = editor();
    editor.prompt(1, "hello");
    let ended = view(&json!({"status": "ended"}));
    editor.daemon.waits.send(report(&ended, "queued", false)).await.unwrap();
    let answer = editor.until("id", &json!(1));
    assert_eq!(answer["error"]["code"], -32603);
    assert!(answer["error"]["message"].as_str().unwrap().contains("it is busy"), "{answer}");
    editor.prompt(2, "/clear");
    editor.daemon.waits.send(report(&view(&json!({})), "uncertain", false)).await.unwrap();
    let note = editor.until("method", &json!("session/update"));
    let note = note["params"]["update"]["content"]["text"].as_str().unwrap().to_owned();
    assert!(note.starts_with("[Segue] It is not known"), "{note}");
    assert_eq!(editor.until("id", &json!(2))["result"]["stopReason"], "end_turn");
    editor.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_session_is_brought_back_by_resume_and_prompt_and_not_by_load() {
    let mut editor = editor();
    *editor.daemon.view.lock().unwrap() = view(&json!({"status": "interrupted"}));
    let params = json!({"sessionId": SESSION, "cwd": "/", "mcpServers": []});
    editor.request(1, "session/load", &params);
    assert_eq!(editor.daemon.calls(), ["conversation Story"]);
    editor.request(2, "session/resume", &params);
    assert_eq!(editor.daemon.calls()[1..], ["resume", "conversation End"]);
    editor.prompt(3, "hello");
    editor.daemon.waits.send(report(&view(&json!({})), "delivered", true)).await.unwrap();
    editor.until("id", &json!(3));
    assert_eq!(editor.daemon.calls()[3..], ["resume", "send hello", "wait None"]);
    editor.end().await;
}

/// Lets the daemon offer a command, and all permissions.
fn offer(editor: &TestEditor) {
    let options = json!({
        "permissions": ["ask", "accept-edits", "auto"], "models": ["large"],
        "commands": [{"name": "init", "description": "Writes a file", "arguments": "folder"}],
    });
    *editor.daemon.options.lock().unwrap() = serde_json::from_value(options).unwrap();
    let view = view(&json!({"permission": "ask"}));
    *editor.daemon.view.lock().unwrap() = view;
}

#[tokio::test(flavor = "multi_thread")]
async fn known_command_is_run_and_the_prompt_of_its_program_is_not_shown() {
    let mut editor = editor();
    offer(&editor);
    let made = editor.request(1, "session/new", &json!({"cwd": "/code", "mcpServers": []}));
    assert_eq!(made["result"]["modes"]["currentModeId"], "ask");
    let update = &editor.read()["params"]["update"];
    assert_eq!(update["sessionUpdate"], "available_commands_update");
    let command =
        json!({"name": "init", "description": "Writes a file", "input": {"hint": "folder"}});
    assert_eq!(update["availableCommands"], json!([command]));
    for (prompt, call) in [("/init here", "run /init here"), ("/other x", "send /other x")] {
        editor.prompt(2, prompt);
        // The command is expected from now on.
        editor.daemon.is_awaited.notified().await;
        let message = MESSAGE.parse().unwrap();
        if prompt.starts_with("/init") {
            editor.daemon.events.send(EventPayload::MessageTyped { message }).await.unwrap();
        }
        let renamed = EventPayload::Renamed { from: "default/a".into(), to: "default/fox".into() };
        editor.daemon.events.send(renamed).await.unwrap();
        assert_eq!(editor.read()["params"]["update"]["title"], "default/fox");
        let texts = ["the text of the program", "done"];
        let roles = [Role::User, Role::Assistant];
        let turns = texts.into_iter().zip(roles).map(|(text, role)| Turn::new(role, text));
        editor.daemon.turns.lock().unwrap().extend(turns);
        let idle = view(&json!({}));
        editor.daemon.waits.send(report(&idle, "delivered", true)).await.unwrap();
        let first = editor.read()["params"]["update"]["content"]["text"].clone();
        assert_eq!(first == "done", prompt.starts_with("/init"), "{first}");
        editor.until("id", &json!(2));
        assert!(editor.daemon.calls().contains(&call.to_owned()), "{:?}", editor.daemon.calls());
    }
    editor.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mode_and_model_are_changed_by_requests_to_the_daemon() {
    let mut editor = editor();
    offer(&editor);
    let params = json!({"sessionId": URI, "modeId": "auto"});
    assert_eq!(editor.request(1, "session/set_mode", &params)["result"], json!({}));
    let params = json!({"sessionId": URI, "configId": "model", "value": "large"});
    let answer = editor.request(2, "session/set_config_option", &params);
    let values: Vec<&Value> = answer["result"]["configOptions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["currentValue"])
        .collect();
    assert_eq!(values, ["auto", "large"]);
    let changes = ["set None Some(Auto)", "set Some(\"large\") None"];
    assert_eq!(editor.daemon.calls(), changes);
    let wrong = [
        json!({"sessionId": URI, "configId": "mode", "value": "root"}),
        json!({"sessionId": URI, "configId": "colour", "value": "red"}),
        json!({"sessionId": URI, "configId": "model", "value": true}),
    ];
    for params in wrong {
        let answer = editor.request(4, "session/set_config_option", &params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    editor.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_change_elsewhere_reach_the_editor() {
    let mut editor = editor();
    offer(&editor);
    editor.request(1, "session/load", &json!({"sessionId": URI}));
    let view = view(&json!({"permission": "auto", "model": "own"}));
    *editor.daemon.view.lock().unwrap() = view;
    let keys = vec!["permission".to_owned()];
    editor.daemon.events.send(EventPayload::SettingsChanged { keys }).await.unwrap();
    let mut updates = Vec::new();
    while updates.len() < 3 {
        updates.push(editor.read()["params"]["update"].clone());
    }
    let update = |kind: &str| {
        updates
            .iter()
            .find(|it| it["sessionUpdate"] == kind)
            .unwrap_or_else(|| panic!("{updates:?}"))
    };
    assert_eq!(update("current_mode_update")["currentModeId"], "auto");
    let model = &update("config_option_update")["configOptions"][1];
    assert_eq!(model["currentValue"], "own");
    let values: Vec<&Value> =
        model["options"].as_array().unwrap().iter().map(|it| &it["value"]).collect();
    assert_eq!(values, ["default", "large", "own"]);
    editor.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn list_has_pages_and_only_the_wanted_folder() {
    let mut editor = editor();
    let page = editor.request(1, "session/list", &json!({"cwd": "/code"}));
    assert_eq!(page["result"]["nextCursor"], "2");
    assert_eq!(page["result"]["sessions"][0]["sessionId"], URI);
    let page = editor.request(2, "session/list", &json!({"cwd": "/else"}));
    assert_eq!(page["result"]["sessions"], json!([]));
    editor.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_session_is_new_and_listed_and_others_are_not_found() {
    let session = Some("default/fox".to_owned());
    let mut editor = TestEditor::start(AcpSettings { session, ..AcpSettings::default() });
    editor.daemon.turns.lock().unwrap().push(Turn::new(Role::User, "earlier"));
    let made = editor.request(1, "session/new", &json!({"cwd": "/code", "mcpServers": []}));
    assert_eq!(made["result"]["sessionId"], URI);
    let history = editor.read();
    assert_eq!(history["params"]["update"]["content"]["text"], "earlier");
    let other = json!({"sessionId": "0190b5a0-0000-7000-8000-000000000002"});
    let refused = editor.request(2, "session/load", &other);
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
    editor.end().await;
}

fn with_servers(names: &[&str]) -> Value {
    let server = |name: &&str| json!({"name": name, "command": "/x", "args": [], "env": []});
    let servers: Vec<Value> = names.iter().map(server).collect();
    json!({"sessionId": SESSION, "cwd": "/code", "mcpServers": servers})
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_of_the_editor_are_in_every_request_that_can_start_the_agent() {
    let mut editor = editor();
    editor.request(1, "session/new", &with_servers(&["one", "two"]));
    editor.prompt(2, "hello");
    editor.daemon.waits.send(report(&view(&json!({})), "delivered", true)).await.unwrap();
    editor.until("id", &json!(2));
    *editor.daemon.view.lock().unwrap() = view(&json!({"status": "interrupted"}));
    editor.request(3, "session/resume", &with_servers(&["three"]));
    editor.request(4, "session/load", &with_servers(&["four"]));
    editor.prompt(5, "again");
    editor.daemon.waits.send(report(&view(&json!({})), "delivered", true)).await.unwrap();
    editor.until("id", &json!(5));
    editor.request(6, "session/close", &with_servers(&[]));
    editor.prompt(7, "last");
    editor.daemon.waits.send(report(&view(&json!({})), "delivered", true)).await.unwrap();
    editor.until("id", &json!(7));
    let calls = editor.daemon.calls();
    let starting: Vec<&str> = calls
        .iter()
        .map(String::as_str)
        .filter(|call| ["run", "send", "resume"].iter().any(|word| call.starts_with(word)))
        .collect();
    let expected = [
        "run in /code with one with two",
        "send hello with one with two",
        "resume with three",
        "resume with four",
        "send again with four",
        "resume",
        "send last",
    ];
    assert_eq!(starting, expected);
    editor.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn editor_whose_servers_cannot_be_used_gets_one_note() {
    let mut editor = editor();
    *editor.daemon.uses_servers.lock().unwrap() = false;
    editor.request(1, "session/new", &with_servers(&["one"]));
    editor.prompt(2, "hello");
    editor.daemon.waits.send(report(&view(&json!({})), "delivered", true)).await.unwrap();
    let note = editor.read();
    let text = note["params"]["update"]["content"]["text"].as_str().unwrap();
    assert!(text.contains("[Segue] `fake` cannot use the MCP servers of the editor"), "{note}");
    assert_eq!(editor.read()["result"]["stopReason"], "end_turn");
    editor.prompt(3, "again");
    editor.daemon.waits.send(report(&view(&json!({})), "delivered", true)).await.unwrap();
    assert_eq!(editor.read()["id"], 3, "no second note");
    editor.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_cannot_be_passed_on_starts_no_session() {
    let mut editor = editor();
    let remote = json!([{"type": "http", "name": "web", "url": "https://hush", "headers": []}]);
    let params = json!({"sessionId": SESSION, "cwd": "/code", "mcpServers": remote});
    for (id, method) in [(1, "session/new"), (2, "session/load"), (3, "session/resume")] {
        let answer = editor.request(id, method, &params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(!answer.to_string().contains("hush"), "{answer}");
    }
    assert!(editor.daemon.calls().is_empty());
    editor.end().await;
}
