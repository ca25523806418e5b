use serde_json::{Value, json};

use super::*;
use crate::pi::Pi;
use crate::testing::to_json_lines;
use crate::testing::turns::{assert_damage_is_tolerated, read_turns_of_text, with_roles_and_tools};

const RECORDED: &str = include_str!("../fixtures/recorded.jsonl");
const PATH: &str = "sessions/--code-a--/2026_01a1e1b4-9591-7600-96ed-7294b417ca9a.jsonl";

fn entry(id: &str, parent: &str, rest: &Value) -> Value {
    let mut entry = json!({
        "type": "message", "id": id, "parentId": (!parent.is_empty()).then_some(parent),
        "timestamp": "2026-11-16T00:00:00.000Z",
    });
    let rest = rest.as_object().unwrap().clone();
    entry.as_object_mut().unwrap().extend(rest);
    entry
}

fn user(id: &str, parent: &str) -> Value {
    let content = json!([{"type": "text", "text": format!("says {id}")}]);
    entry(id, parent, &json!({"message": {"role": "user", "content": content}}))
}

fn model(id: &str, parent: &str, reason: &str) -> Value {
    let content = json!([
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": format!("answers {id}")},
        {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"z": 1, "a": 2}},
    ]);
    let usage = json!({"input": 1, "output": 7, "cacheRead": 2, "cacheWrite": 3});
    let message = json!({
        "role": "assistant", "content": content, "model": "m-1", "usage": usage, "stopReason": reason,
    });
    entry(id, parent, &json!({ "message": message }))
}

fn result(id: &str, parent: &str) -> Value {
    let content = json!([{"type": "text", "text": "no such file"}, {"type": "image"}]);
    let message = json!({
        "role": "toolResult", "toolCallId": "t1", "toolName": "bash", "content": content,
        "isError": true,
    });
    entry(id, parent, &json!({ "message": message }))
}

fn transcript(entries: &[Value]) -> String {
    let header = json!({"type": "session", "version": 3, "id": "x", "cwd": "/code/a"});
    to_json_lines(std::iter::once(&header).chain(entries))
}

fn read_all(text: impl AsRef<[u8]>) -> Vec<Turn> {
    read_turns_of_text(&Pi, PATH, text)
}

fn read_formatted(text: impl AsRef<[u8]>) -> Vec<String> {
    with_roles_and_tools(&read_all(text))
}

#[test]
fn recorded_conversation_is_read_without_failed_answers() {
    let wanted = [
        "user: first HANG",
        "user: second",
        "assistant: turns=2 last=<<second>>",
        "user: third STATUS401",
        "user: hello SLOW",
        "assistant: turns=4 last=<<hello SLOW>>",
    ];
    let turns = read_formatted(RECORDED);
    assert_eq!(turns[..6], wanted, "the prepared answer is on an abandoned branch");
    assert!(
        turns[6..].iter().all(|turn| turn.starts_with("user: ")),
        "no error is an answer: {turns:?}"
    );
}

#[test]
fn messages_tool_calls_and_results_are_turns_but_failed_answers_are_not() {
    let entries = [user("q", ""), model("a", "q", "toolUse"), result("r", "a")];
    let turns = read_all(transcript(&entries));
    let wanted = [
        "user: says q",
        "assistant: answers a",
        "tool_call bash: {\"a\":2,\"z\":1}",
        "tool_result bash!: no such file\n[image]",
    ];
    assert_eq!(with_roles_and_tools(&turns), wanted);
    assert_eq!(turns[1].usage, Some(Usage { input: 6, cached: 2, output: 7, cost_usd: None }));
    assert_eq!(turns[1].model.as_deref(), Some("m-1"));
    assert_eq!([2, 3].map(|at| turns[at].tool.as_ref().unwrap().id.as_str()), ["t1", "t1"]);
    assert!(turns.iter().all(|turn| turn.at.is_some()));
    for reason in ["error", "aborted"] {
        assert_eq!(
            read_formatted(transcript(&[user("q", ""), model("a", "q", reason)])),
            ["user: says q"]
        );
    }
}

#[test]
fn abandoned_branch_is_omitted_and_summaries_are_turns() {
    let entries = [
        user("q", ""),
        user("left", "q"),
        entry("b", "q", &json!({"type": "branch_summary", "fromId": "left", "summary": "tried"})),
        user("q2", "b"),
        entry(
            "c",
            "q2",
            &json!({"type": "compaction", "summary": "all", "firstKeptEntryId": "q2"}),
        ),
        user("q3", "c"),
        entry("l", "q3", &json!({"type": "label", "targetId": "q", "label": "x"})),
    ];
    let wanted =
        ["user: says q", "summary: tried", "user: says q2", "summary: all", "user: says q3"];
    assert_eq!(read_formatted(transcript(&entries)), wanted);
    let truncated = transcript(&entries) + "{\"type\":\"message\",\"id\":\"torn";
    assert_eq!(read_formatted(truncated), wanted);
}

#[test]
fn all_entries_of_a_first_version_file_are_read() {
    let without = |mut entry: Value| {
        entry.as_object_mut().unwrap().retain(|name, _| name != "id" && name != "parentId");
        entry
    };
    let entries = [user("q", ""), user("q2", "")].map(without);
    assert_eq!(read_formatted(transcript(&entries)), ["user: says q", "user: says q2"]);
}

#[test]
fn damaged_line_is_skipped_and_the_others_are_read() {
    let all = [user("q", ""), user("q2", "q"), user("q3", "q2")];
    let line = all[1].to_string();
    let damaged = "{\"type\":\"message\",\"id\":\"q2\",\"parentId\":\"q\",\"message\":{\"role";
    assert_eq!(
        read_formatted(transcript(&all).replace(&line, damaged)),
        ["user: says q", "user: says q3"]
    );
}

#[test]
fn damaged_transcript_is_read_without_an_error() {
    let built =
        transcript(&[user("q", ""), model("a", "q", "toolUse"), result("r", "a"), user("x", "q")]);
    for fixture in [built.as_str(), RECORDED] {
        assert_damage_is_tolerated(&Pi, PATH, fixture);
    }
}
