//! These recordings are written by hand, because Cursor's program was not available. Their form
//! follows Cursor's documentation and measurements that others have published.

use segue_core::model::FailureClass;

use super::*;

const ID: &str = "32143814-2a0b-4c11-9d55-0b7c5a1f6e01";
const STREAM: &str = include_str!("../fixtures/stream.jsonl");

fn conversation(evidence: Evidence) -> Signal {
    Signal::Conversation { id: VendorSessionId::new(ID), evidence }
}

fn activity(activity: Activity, source: Source) -> Signal {
    Signal::Activity { activity, source }
}

#[test]
fn headless_turn_names_its_conversation_and_its_end() {
    let signals: Vec<Signal> = STREAM.lines().flat_map(of_stream).collect();
    let text = "I'll look.blue".to_owned();
    let wanted = [
        conversation(Evidence::Stream),
        activity(Activity::Working, Source::Stream),
        Signal::TurnEnded { ok: true, text, failure: None },
    ];
    assert_eq!(signals, wanted);
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
        assert_eq!(of_stream(line), [], "{line}");
    }
}

#[test]
fn a_result_that_is_an_error_is_a_failure() {
    let line =
        r#"{"type":"result","subtype":"error","is_error":true,"result":"[unauthenticated] x"}"#;
    let [Signal::TurnEnded { ok: false, failure: Some(failure), .. }] = &of_stream(line)[..] else {
        panic!("a failure");
    };
    assert_eq!(failure.class, FailureClass::Account);
}

fn hook(event: &str, more: &str) -> Vec<Signal> {
    of_hook(&format!(
        r#"{{"conversation_id":"{ID}","generation_id":"g","model":"m","hook_event_name":"{event}","cursor_version":"2026.09.10-fd3934a","workspace_roots":["/code/a"]{more}}}"#
    ))
}

#[test]
fn hooks_name_the_conversation_and_report_its_activity() {
    let idle = activity(Activity::Idle, Source::Hook);
    let working = activity(Activity::Working, Source::Hook);
    let said = conversation(Evidence::Hook);
    let path = format!(
        r#","transcript_path":"/home/u/.cursor/projects/code-a/agent-transcripts/{ID}/{ID}.jsonl""#
    );
    assert_eq!(hook("sessionStart", r#","transcript_path":null"#), [said.clone(), idle.clone()]);
    assert_eq!(hook("beforeSubmitPrompt", &path), [said.clone(), working]);
    let end = |ok, failure| Signal::TurnEnded { ok, text: String::new(), failure };
    assert_eq!(
        hook("stop", r#","status":"completed","loop_count":0"#),
        [said.clone(), end(true, None), idle.clone()]
    );
    assert_eq!(hook("stop", r#","status":"aborted""#), [said, end(false, None), idle]);
    let failed = hook("stop", r#","status":"error","error_message":"usage limit""#);
    assert_eq!(failed[1], end(false, Some(failures::failure("usage limit"))));
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
