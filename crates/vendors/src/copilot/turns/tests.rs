use std::fs;

use segue_core::model::VendorSessionId;
use segue_core::ports::{Target, Transcripts as _};
use serde_json::{Value, json};

use crate::copilot::{Copilot, paths};
use crate::testing::turns::{
    as_read_back, assert_damage_is_tolerated, read_turns, read_turns_of_text, sample_turns,
    with_roles_and_tools, write_turns,
};
use crate::testing::{Home, json_lines};

const ID: &str = "21111111-2222-4333-8444-555555555555";
const PERMISSION: &str = include_str!("../fixtures/permission.jsonl");
const FAILED: &str = include_str!("../fixtures/failed.jsonl");
const COMPACTED: &str = include_str!("../fixtures/compacted.jsonl");

fn at(id: &str) -> String {
    format!("session-state/{id}/events.jsonl")
}

fn read(text: &str) -> Vec<String> {
    with_roles_and_tools(&read_turns_of_text(&Copilot, &at(ID), text))
}

fn line(kind: &str, data: &Value) -> String {
    let time = "2026-11-16T06:00:00.000Z";
    json!({"type": kind, "data": data, "id": "x", "timestamp": time}).to_string() + "\n"
}

#[test]
fn turns_are_the_messages_of_people_and_model_and_the_results_of_tools() {
    let found = read(PERMISSION);
    assert!(found[4].starts_with("tool_result : \n<shellId: 0 completed"), "{found:?}");
    assert_eq!(
        [&found[..4], &found[5..]].concat(),
        [
            "user: go [[slow: 6]]",
            "assistant: piece0 piece1 piece2 piece3 piece4 piece5 turns=1 answer",
            "user: do [[tool: touch made.txt]]",
            r#"tool_call bash: {"command":"touch made.txt","description":"d"}"#,
            "assistant: turns=2 answer",
            "user: do [[tool: touch made2.txt]]",
            r#"tool_call bash: {"command":"touch made2.txt","description":"d"}"#,
        ]
    );
    assert_eq!(read(FAILED), ["user: fail [[status: 429]]"]);
}

#[test]
fn turn_has_its_time_its_model_and_the_id_of_its_tool_call() {
    let home = Home::new();
    let turns = read_turns(&Copilot, &home.write(&at(ID), PERMISSION));
    assert!(turns.iter().all(|turn| turn.at.is_some()));
    let models: Vec<bool> = turns.iter().map(|turn| turn.model.is_some()).collect();
    assert_eq!(models, [false, true, false, true, false, true, false, true]);
    let ids: Vec<&str> =
        turns[3..5].iter().map(|turn| turn.tool.as_ref().unwrap().id.as_str()).collect();
    assert_eq!(ids, ["call_1794792607285174315"; 2]);
}

#[test]
fn events_outside_the_models_context_are_no_turns() {
    let tool = |more: &Value| {
        let mut data = json!({"toolCallId": "1", "success": true, "result": {"content": "r"}});
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line("tool.execution_complete", &data)
    };
    let text = [
        line("user.message", &json!({"content": "forgotten"})),
        line("session.context_cleared", &json!({"messagesCleared": 1})),
        line("user.message", &json!({"content": "a skill's", "source": "skill-pdf"})),
        line("user.message", &json!({"content": "", "source": "user"})),
        line("user.message", &json!({"content": "go on", "isAutopilotContinuation": true})),
        line("system.message", &json!({"content": "be kind"})),
        line("assistant.message", &json!({"content": "inner", "parentToolCallId": "1"})),
        line("session.compaction_complete", &json!({"success": false, "error": "x"})),
        line("session.compaction_complete", &json!({"success": true, "summaryContent": "much"})),
        tool(&json!({"isUserRequested": true})),
        tool(&json!({"parentToolCallId": "0"})),
        tool(&json!({"shellExecution": {"exitCode": 2}})),
        tool(&json!({"success": false, "error": {"message": "broken"}})),
        line(
            "assistant.message",
            &json!({"content": "both", "toolRequests": [
                {"toolCallId": "2", "name": "patch", "arguments": "*** x", "type": "custom"},
                {"toolCallId": "3", "name": "list"},
            ]}),
        ),
        line("user.message", &json!({"content": "mine"})).replacen('{', r#"{"agentId":"7","#, 1),
        line("user.message", &json!({"content": "mine"})),
    ];
    let wanted = [
        "summary: much",
        "tool_result !: r",
        "tool_result !: broken",
        "assistant: both",
        r#"tool_call patch: {"input":"*** x"}"#,
        "tool_call list: {}",
        "user: mine",
    ];
    assert_eq!(read(&text.concat()), wanted);
}

#[test]
fn compaction_adds_one_summary_and_keeps_the_earlier_turns() {
    let wanted = [
        "user: hello one",
        "assistant: answer 1",
        "user: second thing",
        "assistant: answer 2",
        "summary: answer 3",
        "user: after compact",
        "assistant: answer 2",
    ];
    assert_eq!(read(COMPACTED), wanted);
}

#[test]
fn pasted_text_is_part_of_the_message() {
    let home = Home::new();
    let pasted = home.write(&format!("session-state/{ID}/files/paste-1.txt"), "long\ntext");
    let content = format!(r#"see <pasted_content file="{}" size="1 KB" /> ok"#, pasted.display());
    let path = home.write(&at(ID), line("user.message", &json!({"content": content})));
    assert_eq!(read_turns(&Copilot, &path)[0].text, "see long\ntext ok");
}

#[test]
fn damaged_transcript_is_read_without_a_failure() {
    assert_damage_is_tolerated(&Copilot, &at(ID), PERMISSION);
    assert_damage_is_tolerated(&Copilot, &at(ID), COMPACTED);
    assert_eq!(read(""), Vec::<String>::new());
    assert_eq!(read("garbage\n\u{0}\n[]\n{}\n"), Vec::<String>::new());
}

#[test]
fn written_transcript_reads_back_as_the_same_turns() {
    let home = Home::new();
    let turns = sample_turns();
    let (transcription, bytes) = write_turns(&Copilot, &home, (ID, None), &turns);
    let wanted = paths::transcript(home.folder.path(), ID);
    assert_eq!(transcription.target, Target::Transcript(wanted.clone()));
    let [extra_file] = &transcription.extra_files[..] else { panic!("{transcription:?}") };
    assert_eq!(extra_file.path, wanted.with_file_name("workspace.yaml"));
    assert!(extra_file.contents.contains("name: \"fleet/one\"\n"), "{}", extra_file.contents);
    let path = home.write(wanted.to_str().unwrap(), bytes);
    assert_eq!(read_turns(&Copilot, &path), as_read_back(&turns));
    let id = VendorSessionId::new(ID);
    let found = Copilot.conversation(&home.disk, &home.place, &id).unwrap().unwrap();
    assert_eq!(found.cwd, home.place.cwd);
    assert_eq!(found.last_answer.as_deref(), Some("\\o/"));
    assert!(!found.turn_open);
}

#[test]
fn added_events_continue_from_the_last_event_with_new_ids() {
    let home = Home::new();
    let turns = sample_turns();
    let path = home.write(&at(ID), PERMISSION.to_owned() + "{\"torn\":");
    let before = read_turns(&Copilot, &path);
    let (transcription, added) = write_turns(&Copilot, &home, (ID, Some(&path)), &turns);
    assert_eq!(transcription.target, Target::Transcript(path.clone()));
    assert!(transcription.extra_files.is_empty());
    fs::write(&path, [PERMISSION.as_bytes(), &added].concat()).unwrap();
    assert_eq!(read_turns(&Copilot, &path), [before, as_read_back(&turns)].concat());
    let (_, again) = write_turns(&Copilot, &home, (ID, Some(&path)), &turns);
    let events = [&added[..], &again].concat();
    let last: Value = serde_json::from_str(PERMISSION.lines().last().unwrap()).unwrap();
    let mut parent = last["id"].clone();
    let mut ids = std::collections::HashSet::new();
    for event in json_lines(events) {
        assert_eq!(event["parentId"], parent);
        parent = event["id"].clone();
        assert!(ids.insert(parent.as_str().unwrap().to_owned()), "{event}");
    }
}

#[test]
fn repeated_results_of_a_command_are_the_same_without_the_number_of_the_shell() {
    for number in [0, 12] {
        let text = format!("hi\n<shellId: {number} completed with exit code 0>");
        assert_eq!(super::repeatable_part(&text), "hi\n");
    }
    for text in ["hi", "", "<shellId: 1\nhi"] {
        assert_eq!(super::repeatable_part(text), text);
    }
}
