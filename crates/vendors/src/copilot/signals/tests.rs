use segue_core::model::{FailureClass, WaitingFor};

use super::*;
use crate::testing::{Home, process};

const ID: &str = "21111111-2222-4333-8444-555555555555";
const PERMISSION: &str = include_str!("../fixtures/permission.jsonl");
const FAILED: &str = include_str!("../fixtures/failed.jsonl");
const STREAM: &str = include_str!("../fixtures/stream.jsonl");
const ABORTED: &str = include_str!("../fixtures/aborted-stream.jsonl");

/// Returns the signals of a transcript whose lock the process holds, without the signal that names
/// the conversation.
fn turn_signals(text: &str) -> Vec<Signal> {
    let home = Home::new();
    let path = home.write(&format!("session-state/{ID}/events.jsonl"), text);
    assert_eq!(
        Copilot.file_signals(&home.disk, &path, &process(9, 1)),
        [],
        "the process holds no lock"
    );
    let held = home.write(&format!("session-state/{ID}/inuse.9.hold"), "");
    home.disk.open_in(&held, 9);
    let named = signals::conversation(ID, Evidence::Lock);
    assert_eq!(
        Copilot.file_signals(&home.disk, &held, &process(9, 1)),
        std::slice::from_ref(&named)
    );
    let mut signals = Copilot.file_signals(&home.disk, &path, &process(9, 1));
    assert_eq!(signals.remove(0), named);
    signals
}

/// Returns the first lines of a recording.
fn first_lines(text: &str, count: usize) -> String {
    text.lines().take(count).map(|line| format!("{line}\n")).collect()
}

fn activity(activity: Activity) -> Signal {
    signals::activity(activity, Source::Transcript)
}

/// Returns the line number, from 1, of the nth event of this type.
fn line_of(text: &str, kind: &str, nth: usize) -> usize {
    let kind = format!(r#"{{"type":"{kind}""#);
    let found = text.lines().enumerate().filter(|(_, line)| line.starts_with(&kind)).nth(nth);
    found.unwrap().0 + 1
}

#[test]
fn events_show_work_permission_requests_and_the_end_of_a_turn() {
    let at = |kind, nth| turn_signals(&first_lines(PERMISSION, line_of(PERMISSION, kind, nth)));
    assert_eq!(at("session.start", 0), []);
    assert_eq!(at("user.message", 0), [activity(Activity::Working)]);
    assert_eq!(at("assistant.message", 0), [activity(Activity::Working)], "it may go on");
    let answered = at("assistant.turn_end", 0);
    assert!(matches!(&answered[0], Signal::TurnEnded { ok: true, .. }), "{answered:?}");
    assert_eq!(answered[1], activity(Activity::Idle));
    let waiting = activity(Activity::Waiting(WaitingFor::Permission));
    assert_eq!(at("permission.requested", 0), [waiting]);
    assert_eq!(at("permission.completed", 0), [activity(Activity::Working)]);
    assert_eq!(at("assistant.turn_end", 1), [activity(Activity::Working)], "it called a tool");
}

#[test]
fn interrupted_or_failed_turn_has_ended() {
    assert_eq!(turn_signals(PERMISSION), [signals::interrupted(), activity(Activity::Idle)]);
    let failed = turn_signals(FAILED);
    let Signal::TurnEnded { ok: false, failure: Some(failure), .. } = &failed[0] else {
        panic!("{failed:?}");
    };
    assert_eq!(failure.class, FailureClass::UsageLimit);
}

#[test]
fn events_before_a_resume_give_no_signals() {
    let cut = first_lines(PERMISSION, line_of(PERMISSION, "user.message", 0));
    let resumed = cut + "{\"type\":\"session.resume\",\"data\":{}}\n";
    let mended =
        "{\"type\":\"tool.execution_complete\",\"data\":{}}\n{\"type\":\"session.warning\"}\n";
    assert_eq!(turn_signals(&(resumed + mended)), []);
}

#[test]
fn events_of_a_subagent_are_ignored() {
    let own = first_lines(PERMISSION, line_of(PERMISSION, "assistant.turn_end", 0));
    let theirs = "{\"type\":\"assistant.turn_start\",\"agentId\":\"x\",\"data\":{}}\n";
    assert_eq!(turn_signals(&(own.clone() + theirs)), turn_signals(&own));
}

#[test]
fn log_and_list_of_open_conversations_name_the_conversation_of_the_process() {
    let home = Home::new();
    let text = format!("x [INFO] Registering foreground session: {ID}\n");
    let log = home.write("logs/process-1-9.log", text);
    home.disk.open_in(&log, 9);
    let named = |evidence| signals::conversation(ID, evidence);
    assert_eq!(Copilot.file_signals(&home.disk, &log, &process(9, 1)), [named(Evidence::Registry)]);
    assert_eq!(Copilot.file_signals(&home.disk, &log, &process(8, 1)), []);
    let list = home.write("open-sessions-state.json", format!(r#"{{"{ID}":{{}}}}"#));
    assert_eq!(
        Copilot.file_signals(&home.disk, &list, &process(9, 1)),
        [],
        "the process does not hold it"
    );
    let held = home.write(&format!("session-state/{ID}/inuse.9.hold"), "");
    home.disk.open_in(held, 9);
    assert_eq!(Copilot.file_signals(&home.disk, &list, &process(9, 1)), [named(Evidence::Lock)]);
}

#[test]
fn headless_turn_succeeds_with_an_answer_and_its_last_line_names_the_conversation() {
    let signals: Vec<Signal> =
        STREAM.lines().flat_map(|line| Copilot.stream_signals(line)).collect();
    let wanted = [
        signals::activity(Activity::Working, Source::Stream),
        signals::answered("turns=1 answer"),
        signals::conversation("11111111-2222-4333-8444-555555555555", Evidence::Stream),
    ];
    assert_eq!(signals, wanted);
}

#[test]
fn interrupted_headless_turn_fails_although_its_exit_code_is_zero() {
    assert!(ABORTED.contains(r#""exitCode":0"#));
    let signals: Vec<Signal> =
        ABORTED.lines().flat_map(|line| Copilot.stream_signals(line)).collect();
    let ends: Vec<&Signal> =
        signals.iter().filter(|signal| matches!(signal, Signal::TurnEnded { .. })).collect();
    assert_eq!(ends, [&signals::interrupted()]);
    let failed = FAILED.lines().last().map(|line| Copilot.stream_signals(line)).unwrap();
    assert!(matches!(&failed[..], [Signal::TurnEnded { failure: Some(_), .. }]), "{failed:?}");
}
