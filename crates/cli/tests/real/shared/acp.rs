//! `segue acp` with the vendors' real programs: the model's log is the evidence.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use segue_testkit::acp_packages::assert_schema;
use segue_testkit::editor_client::texts;
use segue_testkit::vendor_scene::{PinnedVendor, VendorScene};
use segue_testkit::{EditorClient, World, processes};
use serde_json::{Value, json};

use super::facts::{ChangesMode, ChangesModel, EditsFiles, KeepsPlan, RunsCommands};
use crate::scene;

/// The file that agents change.
const FILE: &str = "notes.txt";

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
fn mode_changes_in_the_same_conversation<V: ChangesMode>() {
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
    let back = client.request("session/set_mode", &json!({"sessionId": session, "modeId": "ask"}));
    if V::KEEPS_AUTO {
        let message = back["error"]["message"].as_str().unwrap();
        return assert!(message.contains("keeps `auto`"), "{message}");
    }
    assert_eq!(back["result"], json!({}), "{back}");
    let prompt = client.begin_prompt(&session, "[[ask: touch refused]]");
    client.question();
    client.notify("session/cancel", &json!({"sessionId": session}));
    client.answer(prompt);
    assert!(!scene.world.project().join("refused").exists());
}

test_each!(
    mode_changes_in_the_same_conversation: claude, codex, copilot, gemini, opencode
);

/// The models that Segue names for the vendor, and the requests that show them.
fn model_changes_in_the_same_conversation<V: ChangesModel>() {
    let scene = scene::<V>();
    let mut client = editor(&scene);
    let session = client.new_session(&scene.world.project());
    assert_ended(&client.prompt(&session, "remember ALPHA").0);
    for (model, part) in V::MODELS {
        let chosen = json!({"sessionId": session, "configId": "model", "value": model});
        let options = client.ok("session/set_config_option", &chosen);
        let options = options["configOptions"].as_array().unwrap();
        let option = options.iter().find(|it| it["id"] == "model").unwrap();
        assert_eq!(option["currentValue"], *model);
        let text = format!("ask {model}");
        assert_ended(&client.prompt(&session, &text).0);
        let carried = scene.model.conversation_of(&text).unwrap();
        let shown = format!("{} {}", carried.path, carried.body["model"]);
        assert!(shown.contains(part), "{model}: {shown}");
        assert!(carried.user_texts()[0].contains("ALPHA"), "{carried:?}");
    }
    let loaded = client.ok("session/load", &of(&session));
    let options = loaded["configOptions"].as_array().unwrap();
    let option = options.iter().find(|it| it["id"] == "model").unwrap();
    let offered = option["options"].to_string();
    for (model, _) in V::MODELS {
        assert!(offered.contains(&format!("{model:?}")), "{model}: {offered}");
    }
}

test_each!(
    model_changes_in_the_same_conversation: claude, codex, gemini, pi
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

/// Sends a prompt, and allows everything that the agent asks. Returns the updates of its turn.
fn prompt_allowing(client: &mut EditorClient, session: &str, text: &str) -> Vec<Value> {
    client.updates.clear();
    let prompt = client.begin_prompt(session, text);
    assert_ended(&client.answer_allowing(prompt));
    std::mem::take(&mut client.updates)
}

/// Returns the diffs in updates, each with the last status of its tool call, and the text of its
/// result.
fn diffs(updates: &[Value]) -> Vec<(Value, &str, String)> {
    let calls = updates.iter().filter(|it| it["sessionUpdate"] == "tool_call");
    let edits = calls.filter(|it| it["content"][0]["type"] == "diff");
    let found = edits.map(|call| {
        assert_eq!(call["kind"], "edit", "{call}");
        let is_same = |it: &&Value| it["toolCallId"] == call["toolCallId"];
        let last = updates.iter().rfind(is_same).unwrap();
        let text = last["content"][0]["content"]["text"].as_str().unwrap_or_default();
        (call["content"].clone(), last["status"].as_str().unwrap(), text.to_owned())
    });
    found.collect()
}

/// Asserts that updates have a new file, an edit and an edit that failed, in this order.
fn assert_edits(updates: &[Value], file: &Path) {
    let found = diffs(updates);
    let diff = |old: Value, new: &str| {
        let mut diff = json!({"type": "diff", "path": file, "newText": new});
        if !old.is_null() {
            diff["oldText"] = old;
        }
        json!([diff])
    };
    let shown: Vec<(&Value, &str)> = found.iter().map(|it| (&it.0, it.1)).collect();
    let expected = [
        (&diff(Value::Null, "one\ntwo\n"), "completed"),
        (&diff(json!("two\n"), "zwei\n"), "completed"),
        (&diff(json!("nowhere\n"), "anywhere\n"), "failed"),
    ];
    assert_eq!(shown, expected, "{updates:#?}");
    assert!(!found[2].2.trim().is_empty(), "{updates:#?}");
}

/// Lets the agent create a file, edit it, and fail to edit it. Checks what the editor is sent then,
/// and after it has loaded the session again.
fn assert_edits_are_shown(world: &World, arguments: &[&str], calls: &[String; 3]) {
    let mut client = EditorClient::start(world, arguments);
    let session = client.new_session(&world.project());
    let file = world.project().join(FILE);
    let mut updates = Vec::new();
    for (call, expected) in calls.iter().zip(["one\ntwo\n", "one\nzwei\n", "one\nzwei\n"]) {
        updates.extend(prompt_allowing(&mut client, &session, &format!("go {call}")));
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), Some(expected), "{updates:#?}");
    }
    assert_edits(&updates, &file);
    assert_schema(&client.traffic);
    client.close();
    let mut client = EditorClient::start(world, arguments);
    client.ok("session/load", &of(&session));
    assert_edits(&client.updates, &file);
}

fn edits_of_the_program_are_diffs_also_after_loading<V: EditsFiles>() {
    let mut scene = scene::<V>();
    V::offer_edit_tools(&mut scene);
    let file = scene.world.project().join(FILE);
    let calls = [
        V::write(&file, "one\ntwo\n"),
        V::edit(&file, "two\n", "zwei\n"),
        V::edit(&file, "nowhere\n", "anywhere\n"),
    ];
    assert_edits_are_shown(&scene.world, V::EDITOR, &calls);
}

test_each!(
    edits_of_the_program_are_diffs_also_after_loading:
    claude, codex, copilot, gemini, opencode, pi
);

/// Newer models of Codex call its tools in a program, which is the only tool that they are offered.
fn patches_in_a_program_of_the_model_are_diffs_also_after_loading<V: PinnedVendor>() {
    let scene = scene::<V>();
    let patch = |lines: &str| format!("*** Begin Patch\n{lines}*** End Patch\n");
    let edit =
        |old: &str, new: &str| patch(&format!("*** Update File: {FILE}\n@@\n-{old}\n+{new}\n"));
    let literals = [
        format!("`{}`", patch(&format!("*** Add File: {FILE}\n+one\n+two\n"))),
        json!(edit("two", "zwei")).to_string(),
        json!(edit("nowhere", "anywhere")).to_string(),
    ];
    let calls = literals.map(|literal| {
        let program = format!("text(await tools.apply_patch({literal}));");
        format!("[[call: exec {}]]", json!(program))
    });
    let arguments = [V::RUN, &["--model", "gpt-6-sol"]].concat();
    assert_edits_are_shown(&scene.world, &arguments, &calls);
}

test_each!(patches_in_a_program_of_the_model_are_diffs_also_after_loading: codex);

fn step_of(entry: &Value) -> (&str, &str) {
    (entry["content"].as_str().unwrap(), entry["status"].as_str().unwrap())
}

/// Returns the plans in updates: the text and the state of each step.
fn plans(updates: &[Value]) -> Vec<Vec<(&str, &str)>> {
    let plans = updates.iter().filter(|it| it["sessionUpdate"] == "plan");
    let entries = plans.map(|plan| plan["entries"].as_array().unwrap().iter());
    entries.map(|steps| steps.map(step_of).collect()).collect()
}

fn steps_of_the_program_are_a_plan_also_after_loading<V: KeepsPlan>() {
    let mut scene = scene::<V>();
    V::offer_plan_tool(&mut scene);
    let mut client = editor(&scene);
    let session = client.new_session(&scene.world.project());
    let first = [("write it", "in_progress"), ("test it", "pending")];
    let second = [("write it", "completed"), ("test it", "in_progress")];
    let mut updates = prompt_allowing(&mut client, &session, &format!("go {}", V::first_plan()));
    assert_eq!(plans(&updates).last().map(Vec::as_slice), Some(&first[..]), "{updates:#?}");
    let next = prompt_allowing(&mut client, &session, &format!("go on {}", V::second_plan()));
    assert_eq!(plans(&next).last().map(Vec::as_slice), Some(&second[..]), "{next:#?}");
    updates.extend(next);
    // The list is not shown as a call, and a text of the program not as a message of a person.
    let titles = updates.iter().filter_map(|it| it["title"].as_str());
    let shown: Vec<&str> = titles.filter(|title| !title.starts_with("ToolSearch ")).collect();
    assert_eq!(shown, [""; 0], "{updates:#?}");
    assert_eq!(texts(&updates, "user_message_chunk"), [""; 0]);
    assert_schema(&client.traffic);
    client.close();
    let mut client = editor(&scene);
    client.ok("session/load", &of(&session));
    assert_eq!(plans(&client.updates), plans(&updates));
}

test_each!(
    steps_of_the_program_are_a_plan_also_after_loading:
    claude, codex, gemini, opencode
);
