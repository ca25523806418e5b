//! `segue acp` with the vendors' real programs: the model's log is the evidence.

use rustix::process::Signal;
use segue_testkit::acp_packages::assert_schema;
use segue_testkit::editor_client::texts;
use segue_testkit::vendor_scene::{PinnedVendor, VendorScene};
use segue_testkit::{EditorClient, processes};
use serde_json::{Value, json};

use crate::scene;
use crate::shared::facts::RunsCommands;

fn of(session: &str) -> Value {
    json!({"sessionId": session, "cwd": "/", "mcpServers": []})
}

/// Starts an editor's agent that starts sessions of this vendor.
fn editor<V: PinnedVendor>(scene: &VendorScene<V>) -> EditorClient {
    EditorClient::start(&scene.world, V::RUN)
}

fn assert_ended(answer: &Value) {
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
}

fn contains(texts: &[String], part: &str) -> bool {
    texts.iter().any(|text| text.contains(part))
}

/// Also after the agent, its holder and the daemon were killed.
fn killed_editor_loads_the_same_session_with_its_history<V: PinnedVendor>() {
    let scene = scene::<V>();
    let mut client = editor(&scene);
    let session = client.new_session(&scene.world.project());
    let first = "remember ALPHA [[tool: echo made]] [[say: NOTED]]";
    let prompt = client.begin_prompt(&session, first);
    // The tests of OpenCode run with the permission `ask`.
    assert_ended(&client.answer_allowing(prompt));
    let updates = client.updates.clone();
    assert!(contains(&texts(&updates, "agent_message_chunk"), "NOTED"), "{updates:?}");
    assert!(!contains(&texts(&updates, "user_message_chunk"), "ALPHA"), "{updates:?}");
    let has = |kind: &str, status: &str| {
        updates.iter().any(|it| it["sessionUpdate"] == kind && it["status"] == status)
    };
    assert!(has("tool_call", "in_progress"), "{updates:?}");
    assert!(has("tool_call_update", "completed"), "{updates:?}");
    processes::send(client.pid(), Signal::KILL);
    client.wait();
    scene.world.kill_everything();

    let mut client = editor(&scene);
    client.ok("session/load", &of(&session));
    assert_eq!(texts(&client.updates, "user_message_chunk"), [first]);
    assert!(contains(&texts(&client.updates, "agent_message_chunk"), "NOTED"));
    let (answer, updates) = client.prompt(&session, "which word?");
    assert_ended(&answer);
    assert!(contains(&texts(&updates, "agent_message_chunk"), "which word?"), "{updates:?}");
    let carried = scene.model.conversation_of("which word?").unwrap();
    let carried: Vec<&str> = carried.user_texts().into_iter().map(str::trim).collect();
    assert_eq!(carried, [first, "which word?"]);
    assert_schema(&client.traffic);
}

test_each!(
    killed_editor_loads_the_same_session_with_its_history:
    claude, codex, copilot, gemini, opencode, pi
);

fn daemon_killed_during_a_prompt_loses_and_doubles_nothing<V: PinnedVendor>() {
    let scene = scene::<V>();
    let mut client = editor(&scene);
    let session = client.new_session(&scene.world.project());
    assert_ended(&client.prompt(&session, "remember ALPHA").0);
    let prompt = client.begin_prompt(&session, "BETA [[hold: door]]");
    scene.model.wait_held("door");
    segue_testkit::scene::kill_daemon(&scene.world);
    scene.model.release("door");
    assert_ended(&client.answer(prompt));
    assert_ended(&client.prompt(&session, "which word?").0);
    let carried = scene.model.conversation_of("which word?").unwrap();
    let carried: Vec<&str> = carried.user_texts().into_iter().map(str::trim).collect();
    assert_eq!(carried, ["remember ALPHA", "BETA [[hold: door]]", "which word?"]);
}

test_each!(
    daemon_killed_during_a_prompt_loses_and_doubles_nothing:
    claude, codex, copilot, gemini, opencode, pi
);

fn cancelled_prompt_interrupts_the_turn<V: PinnedVendor>() {
    let scene = scene::<V>();
    let mut client = editor(&scene);
    let session = client.new_session(&scene.world.project());
    let prompt = client.begin_prompt(&session, "ALPHA [[hold: door]]");
    scene.model.wait_held("door");
    client.notify("session/cancel", &json!({"sessionId": session}));
    assert_eq!(client.answer(prompt)["result"]["stopReason"], "cancelled");
    assert_ended(&client.prompt(&session, "next [[say: GOES ON]]").0);
}

test_each!(
    cancelled_prompt_interrupts_the_turn:
    claude, codex, copilot, gemini, opencode, pi
);

/// Writes the commands of the project, runs one of them and then the command for a summary.
fn command_of_the_project_is_run_by_the_program<V: RunsCommands>() {
    let scene = scene::<V>();
    let command = scene.world.project().join(V::COMMAND_FILE.0);
    std::fs::create_dir_all(command.parent().unwrap()).unwrap();
    std::fs::write(&command, V::COMMAND_FILE.1).unwrap();
    let mut client = editor(&scene);
    let session = client.new_session(&scene.world.project());
    let offered = client.update(|it| it["sessionUpdate"] == "available_commands_update");
    let offers = |name: &str| {
        let offered = offered["availableCommands"].as_array().unwrap();
        offered.iter().any(|it| it["name"] == name)
    };
    assert!(offers(V::COMMAND), "{offered}");
    assert_ended(&client.prompt(&session, "remember ALPHA").0);
    let (answer, updates) = client.prompt(&session, &format!("/{}{}", V::COMMAND, V::ARGUMENT));
    assert_ended(&answer);
    assert_eq!(texts(&updates, "user_message_chunk"), [""; 0], "{updates:?}");
    assert_ended(&client.prompt(&session, "next").0);
    let carried = scene.model.conversation_of("next").unwrap();
    let carried = carried.user_texts();
    assert_eq!(carried.len(), 3, "{carried:?}");
    assert!(carried[1].contains(V::PROMPT), "{carried:?}");
    if offers("compact") {
        let before = scene.model.exchanges().len();
        assert_ended(&client.prompt(&session, V::COMPACT).0);
        assert!(scene.model.exchanges().len() > before);
        assert_ended(&client.prompt(&session, "still there? [[say: GOES ON]]").0);
    }
    let states = scene.world.json(["messages", "--json"])["messages"].clone();
    let states: Vec<&Value> = states.as_array().unwrap().iter().map(|it| &it["state"]).collect();
    assert!(states.iter().all(|it| **it == "delivered"), "{states:?}");
    assert_schema(&client.traffic);
}

test_each!(
    command_of_the_project_is_run_by_the_program: claude, codex, copilot, gemini, opencode, pi
);

/// The agent asks, and asks nothing after the mode has changed.
fn mode_changes_in_the_same_conversation<V: PinnedVendor>() {
    let scene = scene::<V>();
    let mut client = EditorClient::start(&scene.world, &["--vendor", V::NAME]);
    let session = client.new_session(&scene.world.project());
    assert_ended(&client.prompt(&session, "remember ALPHA").0);
    let prompt = client.begin_prompt(&session, "[[ask: touch asked]]");
    let question = client.question();
    let options = question["params"]["options"].as_array().unwrap();
    let once = options.iter().find(|it| it["kind"] == "allow_once").unwrap();
    client.choose(&question, &once["optionId"].clone());
    assert_ended(&client.answer(prompt));
    client.ok("session/set_mode", &json!({"sessionId": session, "modeId": "auto"}));
    let last = "BETA [[tool: touch allowed]]";
    assert_ended(&client.prompt(&session, last).0);
    assert!(client.questions.is_empty(), "it asks nothing now");
    assert!(scene.world.project().join("allowed").exists());
    let carried = scene.model.conversation_of(last).unwrap();
    let carried = carried.user_texts();
    assert!(carried.iter().any(|text| text.contains("ALPHA")), "{carried:?}");
}

test_each!(
    mode_changes_in_the_same_conversation: claude, codex, copilot, gemini, opencode
);

/// The editor allows the first command and rejects the second one.
fn question_goes_to_the_editor_and_its_answer_to_the_program<V: PinnedVendor>() {
    let scene = scene::<V>();
    let mut client = EditorClient::start(&scene.world, &["--vendor", V::NAME]);
    let session = client.new_session(&scene.world.project());
    for (kind, file) in [("allow_once", "allowed"), ("reject_once", "rejected")] {
        let prompt = client.begin_prompt(&session, &format!("{file} [[ask: touch {file}]]"));
        let question = client.question();
        let options = question["params"]["options"].as_array().unwrap();
        let option = options.iter().find(|it| it["kind"] == kind);
        let option = option.unwrap_or_else(|| panic!("no {kind}: {question}"));
        client.choose(&question, &option["optionId"].clone());
        let answer = client.answer(prompt);
        assert!(answer["result"]["stopReason"].is_string(), "{answer}");
        assert_eq!(scene.world.project().join(file).exists(), kind == "allow_once", "{kind}");
    }
    assert_schema(&client.traffic);
}

test_each!(
    question_goes_to_the_editor_and_its_answer_to_the_program:
    claude, codex, copilot, gemini, opencode
);
