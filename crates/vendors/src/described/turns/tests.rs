use std::os::unix::fs::FileExt as _;

use segue_core::model::{Role, Usage};
use serde_json::json;

use super::super::TranscriptPattern;
use super::*;
use crate::testing::turns::{read_turns, read_turns_of_text, with_roles};
use crate::testing::{Home, to_json_lines};

fn read_all(bytes: impl AsRef<[u8]>) -> Vec<Turn> {
    read_turns_of_text(&TranscriptPattern(String::new()), "transcript", bytes)
}

fn read_formatted(bytes: impl AsRef<[u8]>) -> Vec<String> {
    with_roles(&read_all(bytes))
}

/// Returns the records as JSON lines, and as a document with one field per line.
fn in_both_forms(records: &[Value]) -> [String; 2] {
    [to_json_lines(records), serde_json::to_string_pretty(records).unwrap()]
}

const NO_TURNS: [String; 0] = [];

#[test]
fn transcripts_of_other_agents_are_read_and_an_empty_transcript_has_no_turns() {
    let claude = [
        json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": "aside"}}),
        json!({"type": "user", "message": {"role": "user", "content": "one"}, "uuid": "1",
               "timestamp": "2026-11-16T01:00:00Z"}),
        json!({"type": "assistant", "message": {"role": "assistant", "model": "m", "content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "two"},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}],
            "usage": {"input_tokens": 3, "output_tokens": 4}}}),
        json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a b"}],
             "is_error": true}]}}),
        json!({"type": "system", "content": "compacted"}),
    ];
    let pi = [
        json!({"type": "session", "version": 3, "id": "x", "cwd": "/code"}),
        json!({"type": "message", "id": "1", "timestamp": "2026-11-16T01:00:00Z",
               "message": {"role": "user", "content": [{"type": "text", "text": "one"}]}}),
        json!({"type": "message", "id": "2", "message": {"role": "assistant", "model": "m", "content": [
            {"type": "text", "text": "two"},
            {"type": "toolCall", "id": "t1", "name": "Bash", "arguments": {"command": "ls"}}],
            "usage": {"input": 3, "output": 4}}}),
        json!({"type": "message", "id": "3", "message": {"role": "toolResult", "toolCallId": "t1",
            "toolName": "Bash", "content": [{"type": "text", "text": "a b"}], "isError": true}}),
    ];
    let wanted =
        ["user: one", "assistant: two", r#"tool_call: {"command":"ls"}"#, "tool_result: a b"];
    for records in [&claude[..], &pi] {
        for text in in_both_forms(records) {
            assert_eq!(read_formatted(&text), wanted, "{text}");
            let turns = read_all(&text);
            assert_eq!(turns[0].at.unwrap().to_string(), "2026-11-16T01:00:00Z");
            assert_eq!(turns[1].model.as_deref(), Some("m"));
            assert_eq!(turns[1].usage, Some(Usage { input: 3, output: 4, ..Usage::default() }));
            let [call, result] = [2, 3].map(|at: usize| turns[at].tool.clone().unwrap());
            assert_eq!((call.id.as_str(), call.name.as_str()), ("t1", "Bash"));
            assert!(result.id == "t1" && result.failed);
        }
    }
    let system = vec![json!({"role": "system", "content": "be good"}); 3];
    for text in in_both_forms(&system) {
        assert_eq!(read_formatted(text), NO_TURNS);
    }
    assert_eq!(read_formatted(""), NO_TURNS);
    let absent = Path::new("/absent/transcript");
    assert_eq!(read_turns(&TranscriptPattern(String::new()), absent), []);
}

#[test]
fn messages_are_found_in_json_of_any_layout() {
    let wanted = ["user: one", "assistant: two"];
    let lists = [
        json!([{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]),
        json!([{"sender": "human", "text": "one"}, {"sender": "ai", "text": "two"}]),
        json!([{"from": "human", "value": "one"}, {"from": "gpt", "value": "two"}]),
        json!([{"role": "user", "content": [{"type": "text", "text": "one"}]},
               {"role": "assistant", "content": [{"type": "output_text", "text": "two"}]}]),
        json!([{"role": "user", "parts": [{"text": "one"}]},
               {"role": "model", "parts": [{"text": "hm", "thought": true}, {"text": "two"}]}]),
        json!([{"message": {"author": {"role": "user"}, "content": {"parts": ["one"]}}},
               {"message": {"author": {"role": "assistant"}, "content": {"parts": ["two"]}}}]),
        json!([{"type": "human", "data": {"content": "one"}},
               {"type": "ai", "data": {"content": "two"}}]),
    ];
    for list in lists {
        let tools = vec![json!({"type": "function", "function": {"name": "a"}}); 5];
        for document in [
            list.clone(),
            json!({"conversation": list}),
            json!({"tools": tools, "history": list}),
            json!({"a": [{"b": {"found anywhere": list}}], "z": [{"role": "user", "content": "x"}]}),
        ] {
            assert_eq!(read_formatted(document.to_string()), wanted, "{document}");
            assert_eq!(read_formatted(format!("{document:#}\n")), wanted, "{document}");
        }
        let lines = to_json_lines(list.as_array().unwrap());
        assert_eq!(read_formatted(&lines), wanted, "{lines}");
    }
    assert_eq!(
        read_formatted(r#"{"messages":[{"role":"user","content":"alone"}]}"#),
        ["user: alone"]
    );
    assert_eq!(read_formatted(r#"{"x":{"y":[{"role":"user","content":"alone"}]}}"#), NO_TURNS);
    for empty in ["", "[]", "{}", "{\n}", "[\n]\n", r#"{"messages":[]}"#, "null", "garbage", "{\n"]
    {
        assert_eq!(read_formatted(empty), NO_TURNS, "{empty}");
    }
}

#[test]
fn tool_calls_and_results_are_recognised_in_many_formats() {
    let records = [
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}}]}),
        json!({"role": "tool", "tool_call_id": "t1", "content": "one"}),
        json!({"type": "function_call", "call_id": "t2", "name": "f", "arguments": "{\"a\":2}"}),
        json!({"type": "function_call_output", "call_id": "t2", "output": "two"}),
        json!({"role": "model", "parts": [{"functionCall": {"id": "t3", "name": "f", "args": {"a": 3}}}]}),
        json!({"role": "user", "parts": [
            {"functionResponse": {"id": "t3", "name": "f", "response": {"output": "three"}}}]}),
        json!({"type": "summary", "summary": "so far"}),
    ];
    let wanted = [
        r#"tool_call: {"a":1}"#,
        "tool_result: one",
        r#"tool_call: {"a":2}"#,
        "tool_result: two",
        r#"tool_call: {"a":3}"#,
        "tool_result: three",
        "summary: so far",
    ];
    let [lines, _] = in_both_forms(&records);
    assert_eq!(read_formatted(&lines), wanted);
    let ids: Vec<String> =
        read_all(&lines).into_iter().filter_map(|turn| Some(turn.tool?.id)).collect();
    assert_eq!(ids, ["t1", "t1", "t2", "t2", "t3", "t3"]);
    assert_eq!(read_all(&lines)[6].role, Role::Summary);
}

#[test]
fn times_are_read_as_text_seconds_or_milliseconds() {
    for time in [json!("2026-11-16T01:00:00Z"), json!(1_794_790_800), json!(1_794_790_800_000_u64)]
    {
        let line = json!({"role": "user", "content": "x", "created_at": time}).to_string();
        assert_eq!(read_all(&line)[0].at.unwrap().to_string(), "2026-11-16T01:00:00Z", "{line}");
    }
}

#[test]
fn truncated_lines_are_skipped() {
    let complete =
        "{\"role\":\"user\",\"content\":\"one\"}\n{\"role\":\"ai\",\"content\":\"two\"}\n";
    assert_eq!(
        read_formatted(format!("tent\":\"torn\"}}\n{complete}{{\"role\":\"us")),
        ["user: one", "assistant: two"]
    );
    for cut in 0..complete.len() {
        read_all(&complete[..cut]);
        read_all(&complete[cut..]);
    }
    let mut bytes = complete.as_bytes().to_vec();
    bytes[complete.find("one").unwrap()] = 0xff;
    assert_eq!(read_all(&bytes)[0].text, "\u{fffd}ne");
}

#[test]
fn document_above_the_size_limit_is_an_error() {
    let home = Home::new();
    let path = home.write("transcript", "[\n");
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.write_all_at(b"\n]", reading::LARGEST_DOCUMENT_BYTES).unwrap();
    let each = &mut |turn| panic!("{turn:?}");
    let error = read(&home.disk, &path, ReadDirection::Forward, each).unwrap_err();
    assert!(format!("{error:?}").contains("at most 67108864 bytes"), "{error:?}");
}
