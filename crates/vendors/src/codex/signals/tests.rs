use segue_core::model::{Failure, FailureClass};

use super::*;
use crate::testing::Home;

const TOOL: &str = include_str!("../fixtures/paginated-tool.jsonl");
const TOOL_ID: &str = "01a1e1be-591b-79d0-85a7-3f4c36fd23d5";
const FAILED: &str = include_str!("../fixtures/paginated-failed.jsonl");
const FAILED_ID: &str = "01a1e1d9-17b3-7d93-bcf8-d259950fec28";

fn agent() -> ProcessRef {
    ProcessRef { pid: 7, started: 99, boot: "b".into() }
}

fn locked(home: &Home, id: &str, pid: u32) -> std::path::PathBuf {
    let path = home.write(&format!("thread-writer-locks/{id}.lock"), "");
    home.disk.open_in(&path, pid);
    path
}

fn rollout(home: &Home, id: &str, text: &str) -> std::path::PathBuf {
    home.write(home::prepared(Path::new(""), id).to_str().unwrap(), text)
}

fn of_turn(text: &str, id: &str) -> Vec<Signal> {
    let home = Home::new();
    locked(&home, id, 7);
    let mut found = of_file(&home.disk, &rollout(&home, id, text), &agent());
    assert_eq!(found.remove(0), conversation(VendorSessionId::new(id)));
    found
}

#[test]
fn lock_that_the_own_process_holds_is_evidence() {
    let home = Home::new();
    let lock = locked(&home, TOOL_ID, 7);
    let wanted = [conversation(VendorSessionId::new(TOOL_ID))];
    assert_eq!(of_file(&home.disk, &lock, &agent()), wanted);
    // Codex holds the coordination lock while it takes the lock of a conversation. So the release
    // of the coordination lock is the last change that is reported.
    let coordination = home.write("thread-writer-locks/.coordination.lock", "");
    assert_eq!(of_file(&home.disk, &coordination, &agent()), wanted);
    let other = ProcessRef { pid: 8, ..agent() };
    assert_eq!(of_file(&home.disk, &lock, &other), []);
    assert_eq!(of_file(&home.disk, &home.write("config.toml", ""), &agent()), []);
}

#[test]
fn rollout_yields_signals_only_for_the_process_that_has_it_open() {
    let idle = active(Activity::Idle, Source::Transcript);
    let found: [Signal; 2] = of_turn(TOOL, TOOL_ID).try_into().unwrap();
    let [Signal::TurnEnded { ok: true, text, failure: None }, last] = found else {
        panic!("{found:?}");
    };
    assert!(text.starts_with("turns=1"), "{text}");
    assert_eq!(last, idle);
    let home = Home::new();
    let path = rollout(&home, TOOL_ID, TOOL);
    assert_eq!(of_file(&home.disk, &path, &agent()), [], "the process does not have it open");
}

#[test]
fn open_turn_is_working_unless_a_tool_may_wait_for_a_permission() {
    let up_to = |word: &str| &TOOL[..TOOL.find(word).unwrap()];
    let working = [active(Activity::Working, Source::Transcript)];
    assert_eq!(of_turn(up_to("\"function_call\""), TOOL_ID), working);
    assert_eq!(of_turn(up_to("\"function_call_output\""), TOOL_ID), []);
    assert_eq!(of_turn(up_to("\"task_complete\""), TOOL_ID), working);
}

#[test]
fn failed_turn_reports_class_message_and_end_of_the_limit() {
    let [ended, idle]: [Signal; 2] = of_turn(FAILED, FAILED_ID).try_into().unwrap();
    let Signal::TurnEnded { ok: false, failure: Some(failure), .. } = ended else {
        panic!("{ended:?}");
    };
    assert_eq!(failure.class, FailureClass::UsageLimit);
    assert_eq!(failure.resets_at, Some("2030-01-16T10:02:08Z".parse().unwrap()));
    assert!(failure.message.starts_with("You’ve hit your usage limit"), "{failure:?}");
    assert_eq!(idle, active(Activity::Idle, Source::Transcript));
}

#[test]
fn turns_from_before_the_lock_was_taken_yield_no_signal() {
    let at: jiff::Timestamp = "2026-11-16T00:00:00Z".parse().unwrap();
    let later = Some("2026-11-16T00:00:01Z".parse().unwrap());
    let open = RolloutEnd { began: Some(at), ..RolloutEnd::default() };
    let over = RolloutEnd { end: Some((at, CodexTurnEnd::default())), ..RolloutEnd::default() };
    assert_eq!(turn(open.clone(), later), []);
    assert_eq!(turn(over.clone(), later), []);
    assert_eq!(turn(open, Some(at)).len(), 1);
    assert_eq!(turn(over, Some(at)).len(), 2);
}

#[test]
fn title_reports_the_activity() {
    let permission = Activity::Waiting(WaitingFor::Permission);
    for (title, wanted) in [
        ("", None),
        ("⠧ w", Some(Activity::Working)),
        ("⠴ Scripted | w", Some(Activity::Working)),
        ("w", Some(Activity::Idle)),
        ("Scripted | w", Some(Activity::Idle)),
        ("[ . ] Action Required | w", Some(permission)),
        ("[ ! ] Action Required | w", Some(permission)),
        ("[my-folder]", Some(Activity::Idle)),
    ] {
        let wanted: Vec<Signal> = wanted.map(|it| active(it, Source::Title)).into_iter().collect();
        assert_eq!(of_title(title), wanted, "{title}");
    }
}

#[test]
fn stream_reports_the_conversation_and_how_the_turn_ended() {
    let started = format!(r#"{{"type":"thread.started","thread_id":"{TOOL_ID}"}}"#);
    let id = VendorSessionId::new(TOOL_ID);
    let named = Signal::Conversation { id, evidence: Evidence::Stream };
    assert_eq!(of_stream(&started), [named, active(Activity::Working, Source::Stream)]);
    let completed = r#"{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":5}}"#;
    let well = Signal::TurnEnded { ok: true, text: String::new(), failure: None };
    assert_eq!(of_stream(completed), [well]);
    let message = "Connection failed: error sending request";
    let line = format!(r#"{{"type":"turn.failed","error":{{"message":"{message}"}}}}"#);
    let class = FailureClass::Connection;
    let failure = Some(Failure { class, message: message.to_owned(), resets_at: None });
    let wanted = Signal::TurnEnded { ok: false, text: String::new(), failure };
    assert_eq!(of_stream(&line), [wanted], "{line}");
}

#[test]
fn warnings_and_retries_yield_no_signal() {
    for line in [
        r#"{"type":"error","message":"Connection failed: error sending request"}"#,
        r#"{"type":"error","message":"Reconnecting... 1/1 (Connection failed)"}"#,
        r#"{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata"}}"#,
        r#"{"type":"turn.started"}"#,
        r#"{"type":"thread.started","thread_id":"../escape"}"#,
        "Reading additional input from stdin...",
        "",
        "[]",
    ] {
        assert_eq!(of_stream(line), [], "{line}");
    }
}
