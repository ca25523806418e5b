use segue_core::model::Usage;
use serde_json::{Value, json};

use super::*;
use crate::gemini::Gemini;
use crate::testing::turns::{
    assert_damage_is_tolerated, read_turns, read_turns_of_text, with_roles,
};
use crate::testing::{Home, to_json_lines};

const INTERACTIVE: &str = include_str!("../fixtures/interactive.jsonl");
const TOOL: &str = include_str!("../fixtures/tool.jsonl");
const RESUMED: &str = include_str!("../fixtures/resumed.jsonl");
const FAILED_FIRST: &str = include_str!("../fixtures/failed-first.jsonl");

const PATH: &str = "session.jsonl";

fn read_all(bytes: impl AsRef<[u8]>) -> Vec<Turn> {
    read_turns_of_text(&Gemini, PATH, bytes)
}

fn read_formatted(bytes: impl AsRef<[u8]>) -> Vec<String> {
    with_roles(&read_all(bytes))
}

fn user(id: &str, text: &str) -> Value {
    json!({"id": id, "timestamp": "2026-11-16T01:00:00Z", "type": "user", "content": [{"text": text}]})
}

fn gemini(id: &str, text: &str) -> Value {
    json!({"id": id, "timestamp": "2026-11-16T01:00:01Z", "type": "gemini", "content": text})
}

fn at(time: &str, mut message: Value) -> Value {
    message["timestamp"] = json!(time);
    message
}

#[test]
fn tool_call_is_returned_once_and_a_context_is_omitted() {
    let output =
        "<untrusted_context>\nOutput: (empty)\nProcess Group PGID: 1794\n</untrusted_context>";
    let wanted = [
        "user: TOOL now".to_owned(),
        r#"tool_call: {"command":"touch made; sleep 1"}"#.to_owned(),
        format!("tool_result: {output}"),
        "assistant: ANSWER to".to_owned(),
    ];
    assert_eq!(read_formatted(TOOL), wanted);
    let turns = read_all(TOOL);
    let tools: Vec<_> = turns.iter().filter_map(|turn| turn.tool.as_ref()).collect();
    assert_eq!(tools[0], tools[1]);
    assert_eq!(tools[0].name, "run_shell_command");
    assert_eq!(turns[3].model.as_deref(), Some("gemini-2.5-flash"));
    assert_eq!(turns[3].usage, Some(Usage { input: 1, output: 1, ..Usage::default() }));
    assert_eq!(turns[0].at.unwrap().to_string(), "2026-11-16T01:43:15.847Z");
}

#[test]
fn interrupted_and_failed_turns_are_omitted() {
    let found = read_formatted(INTERACTIVE);
    assert_eq!(found.len(), 4, "{found:#?}");
    assert_eq!((found[0].as_str(), found[3].as_str()), ("user: TOOL now", "assistant: ANSWER to "));
    assert_eq!(read_formatted(FAILED_FIRST), Vec::<String>::new());
}

#[test]
fn messages_that_a_resume_copied_are_returned_once() {
    let wanted = [
        "user: which files?",
        "assistant: calling",
        r#"tool_call: {"command":"ls"}"#,
        "tool_result: file1",
        r#"tool_call: {"path":"x"}"#,
        "tool_result: no such file",
        "assistant: only file1",
        "user: /help is what I say ü 🎉",
        "assistant: help yourself",
    ];
    assert_eq!(read_formatted(RESUMED), wanted);
    let failed: Vec<bool> =
        read_all(RESUMED).iter().filter_map(|turn| Some(turn.tool.as_ref()?.failed)).collect();
    assert_eq!(failed, [false, false, false, true]);
    let before = RESUMED.lines().take(4).collect::<Vec<_>>().join("\n");
    assert_eq!(read_all(before), read_all(RESUMED)[..7]);
}

#[test]
fn undone_messages_are_omitted() {
    let (first, second) = (user("1", "one"), gemini("2", "two"));
    let (third, fourth) = (user("3", "three"), gemini("4", "four"));
    let rewind = |id: &str| json!({"$rewindTo": id});
    let all = [first, second, third, fourth];
    let after = |more: &[Value]| read_formatted(to_json_lines(&[&all, more].concat()));
    let all_turns = ["user: one", "assistant: two", "user: three", "assistant: four"];
    assert_eq!(after(&[]), all_turns);
    assert_eq!(after(&[rewind("3")]), all_turns[..2]);
    assert_eq!(after(&[rewind("4"), rewind("2")]), all_turns[..1]);
    assert_eq!(after(&[rewind("2"), user("5", "five"), rewind("5")]), all_turns[..1]);
    assert_eq!(
        after(&[rewind("3"), user("3", "again")]),
        ["user: one", "assistant: two", "user: again"]
    );
    assert_eq!(after(&[rewind("unknown")]), Vec::<String>::new());
    let copy = json!({"$set": {"messages": all}});
    assert_eq!(after(&[copy.clone(), rewind("3")]), all_turns[..2]);
    assert_eq!(after(&[copy, user("5", "five"), rewind("unknown")]), Vec::<String>::new());
    assert_eq!(after(&[json!({"$set": {"messages": []}})]), Vec::<String>::new());
}

#[test]
fn later_message_replaces_an_earlier_one_with_the_same_id() {
    let text = to_json_lines(&[
        user("1", "one"),
        gemini("2", ""),
        gemini("2", "half"),
        gemini("2", "whole"),
    ]);
    assert_eq!(read_formatted(text), ["user: one", "assistant: whole"]);
}

#[test]
fn turns_before_a_compaction_are_returned_and_copies_are_omitted() {
    let before = [user("1", "one"), gemini("2", "two"), user("3", "three"), gemini("4", "four")];
    let time = "2026-11-16T02:00:00Z";
    let context = user("c", "<session_context>\nx</session_context>");
    let compacted = [
        context,
        at(time, user("s", "<state_snapshot>all</state_snapshot>")),
        at(time, gemini("t", "Got it. Thanks for the additional context!")),
        at(time, user("u", "three")),
        at(time, gemini("v", "four")),
    ];
    let later = [at("2026-11-16T02:00:09Z", user("5", "five"))];
    let undone = at("2026-11-16T02:00:10Z", user("6", "rolled back"));
    let set = |messages: &[Value]| json!({"$set": {"messages": messages}});
    let wanted = [
        "user: one",
        "assistant: two",
        "summary: <state_snapshot>all</state_snapshot>",
        "user: three",
        "assistant: four",
        "user: five",
    ];
    let at_once = [&before[..], &[set(&compacted)], &later].concat();
    assert_eq!(read_formatted(to_json_lines(&at_once)), wanted);
    let resumed = set(&[&compacted[..], &later].concat());
    let again = [&at_once[..], &[undone, resumed.clone(), resumed]].concat();
    assert_eq!(read_formatted(to_json_lines(&again)), wanted, "after two resumes");
}

#[test]
fn transcript_of_an_older_version_is_read_as_one_document() {
    let document = json!({
        "sessionId": "x", "projectHash": "x", "messages": [user("1", "one"), gemini("2", "two")],
    });
    assert_eq!(read_formatted(document.to_string()), ["user: one", "assistant: two"]);
    let home = Home::new();
    let path = home.write("session.json", format!("{document:#}"));
    assert_eq!(with_roles(&read_turns(&Gemini, &path)), ["user: one", "assistant: two"]);
}

#[test]
fn invalid_messages_are_skipped_and_the_rest_is_read() {
    let odd = [
        user("1", "one"),
        json!({"id": "a", "type": "user", "content": 5}),
        json!({"id": "b", "type": "gemini", "content": null, "toolCalls": null, "tokens": "many"}),
        json!({"id": "c", "type": "gemini", "timestamp": "never", "content": "two"}),
        json!({"id": "d", "type": "new", "content": "three"}),
        json!({"$set": {"messages": null}}),
        json!({"$set": 3}),
        json!([1]),
        json!({"id": "e", "type": "gemini", "content": [{"text": "four"}, {"inlineData": {}}]}),
        json!({"id": "f", "type": "gemini", "content": "", "toolCalls": [{"id": "x", "name": "y"}]}),
    ];
    let wanted = ["user: one", "assistant: two", "assistant: four", "tool_call: {}"];
    assert_eq!(read_formatted(to_json_lines(&odd)), wanted);
    let set = json!({"$set": {"messages": odd}});
    assert_eq!(read_formatted(to_json_lines(&[set])), wanted);
}

#[test]
fn middle_of_a_long_text_is_omitted() {
    let long = format!("BEGIN{}END", "x".repeat(4 * 1024 * 1024));
    let set = json!({"$set": {"messages": [user("1", &long), gemini("2", "two")]}});
    let found = read_all(to_json_lines(&[set]));
    assert_eq!(found[1].text, "two");
    assert!(found[0].text.starts_with("BEGIN") && found[0].text.ends_with("END"));
    assert!(found[0].text.len() < 1024 * 1024);
}

#[test]
fn both_directions_return_the_same_turns_of_damaged_transcripts() {
    for transcript in [INTERACTIVE, TOOL, RESUMED] {
        assert_damage_is_tolerated(&Gemini, PATH, transcript);
    }
}
