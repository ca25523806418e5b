//! These recordings are written by hand, because Cursor's program was not available. Their form
//! follows Cursor's documentation and measurements that others have published.

use segue_core::model::FailureClass;

use super::*;

const ID: &str = "32143814-2a0b-4c11-9d55-0b7c5a1f6e01";
const STREAM: &str = include_str!("../fixtures/stream.jsonl");

#[test]
fn headless_turn_names_its_conversation_and_its_end() {
    let found: Vec<Signal> =
        STREAM.lines().flat_map(|line| CursorVendor.stream_signals(line)).collect();
    let wanted = [
        signals::conversation(ID, Evidence::Stream),
        signals::activity(Activity::Working, Source::Stream),
        signals::answered("I'll look.blue"),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn other_lines_of_the_output_give_no_signals() {
    for line in [
        "",
        "not json",
        r#"{"type":"system","subtype":"init","session_id":""}"#,
        r#"{"type":"system","subtype":"init","session_id":"../../etc/passwd"}"#,
        r#"{"type":"connection","subtype":"reconnecting"}"#,
    ] {
        assert_eq!(CursorVendor.stream_signals(line), [], "{line}");
    }
}

#[test]
fn a_result_that_is_an_error_is_a_failure() {
    let line =
        r#"{"type":"result","subtype":"error","is_error":true,"result":"[unauthenticated] x"}"#;
    let found = CursorVendor.stream_signals(line);
    let [Signal::TurnEnded { ok: false, failure: Some(failure), .. }] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(failure.class, FailureClass::Account);
}

fn hook(event: &str, more: &str) -> Vec<Signal> {
    CursorVendor.hook_signals(&format!(
        r#"{{"conversation_id":"{ID}","generation_id":"g","model":"m","hook_event_name":"{event}","cursor_version":"2026.09.10-fd3934a","workspace_roots":["/code/a"]{more}}}"#
    ))
}

#[test]
fn hooks_name_the_conversation_and_report_its_activity() {
    let idle = signals::activity(Activity::Idle, Source::Hook);
    let working = signals::activity(Activity::Working, Source::Hook);
    let named = signals::conversation(ID, Evidence::Hook);
    let path = format!(
        r#","transcript_path":"/home/u/.cursor/projects/code-a/agent-transcripts/{ID}/{ID}.jsonl""#
    );
    assert_eq!(hook("sessionStart", r#","transcript_path":null"#), [named.clone(), idle.clone()]);
    assert_eq!(hook("beforeSubmitPrompt", &path), [named.clone(), working]);
    let completed = hook("stop", r#","status":"completed","loop_count":0"#);
    assert_eq!(completed, [named.clone(), signals::answered(""), idle.clone()]);
    let aborted = hook("stop", r#","status":"aborted""#);
    assert_eq!(aborted, [named, signals::interrupted(), idle]);
    let failed = hook("stop", r#","status":"error","error_message":"usage limit""#);
    assert_eq!(failed[1], signals::failed("", failures::failure("usage limit")));
    assert_eq!(hook("preToolUse", ""), []);
}

#[test]
fn hooks_of_a_subagent_give_no_signals() {
    let child = format!(
        r#","transcript_path":"/home/u/.cursor/projects/a/agent-transcripts/x/subagents/{ID}.jsonl""#
    );
    assert_eq!(hook("stop", &child), []);
    assert_eq!(hook("sessionStart", r#","is_background_agent":true"#), []);
}
