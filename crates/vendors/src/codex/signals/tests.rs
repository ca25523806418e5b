use segue_core::model::FailureClass;

use super::*;
use crate::testing::{Home, process};

const TOOL: &str = include_str!("../fixtures/paginated-tool.jsonl");
const TOOL_ID: &str = "01a1e1be-591b-79d0-85a7-3f4c36fd23d5";
const FAILED: &str = include_str!("../fixtures/paginated-failed.jsonl");
const FAILED_ID: &str = "01a1e1d9-17b3-7d93-bcf8-d259950fec28";

fn locked(home: &Home, id: &str, pid: u32) -> std::path::PathBuf {
    let path = home.write(&format!("thread-writer-locks/{id}.lock"), "");
    home.disk.open_in(&path, pid);
    path
}

fn rollout(home: &Home, id: &str, text: &str) -> std::path::PathBuf {
    home.write(paths::prepared(Path::new(""), id).to_str().unwrap(), text)
}

fn of_turn(text: &str, id: &str) -> Vec<Signal> {
    let home = Home::new();
    locked(&home, id, 7);
    let mut found = Codex.file_signals(&home.disk, &rollout(&home, id, text), &process(7, 99));
    assert_eq!(found.remove(0), conversation(VendorSessionId::new(id)));
    found
}

#[test]
fn lock_that_the_own_process_holds_is_evidence() {
    let home = Home::new();
    let lock = locked(&home, TOOL_ID, 7);
    let wanted = [conversation(VendorSessionId::new(TOOL_ID))];
    assert_eq!(Codex.file_signals(&home.disk, &lock, &process(7, 99)), wanted);
    // Codex holds the coordination lock while it takes the lock of a conversation. So the release
    // of the coordination lock is the last change that is reported.
    let coordination = home.write("thread-writer-locks/.coordination.lock", "");
    assert_eq!(Codex.file_signals(&home.disk, &coordination, &process(7, 99)), wanted);
    assert_eq!(Codex.file_signals(&home.disk, &lock, &process(8, 99)), []);
    assert_eq!(Codex.file_signals(&home.disk, &home.write("config.toml", ""), &process(7, 99)), []);
}

#[test]
fn rollout_yields_signals_only_for_the_process_that_has_it_open() {
    let idle = signals::activity(Activity::Idle, Source::Transcript);
    let found: [Signal; 2] = of_turn(TOOL, TOOL_ID).try_into().unwrap();
    let [Signal::TurnEnded { ok: true, text, failure: None }, last] = found else {
        panic!("{found:?}");
    };
    assert!(text.starts_with("turns=1"), "{text}");
    assert_eq!(last, idle);
    let home = Home::new();
    let path = rollout(&home, TOOL_ID, TOOL);
    assert_eq!(
        Codex.file_signals(&home.disk, &path, &process(7, 99)),
        [],
        "the process does not have it open"
    );
}

#[test]
fn open_turn_is_working_unless_a_tool_may_wait_for_a_permission() {
    let up_to = |word: &str| &TOOL[..TOOL.find(word).unwrap()];
    let working = [signals::activity(Activity::Working, Source::Transcript)];
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
    assert_eq!(idle, signals::activity(Activity::Idle, Source::Transcript));
}

#[test]
fn turns_from_before_the_lock_was_taken_yield_no_signal() {
    let at: jiff::Timestamp = "2026-11-16T00:00:00Z".parse().unwrap();
    let later = Some("2026-11-16T00:00:01Z".parse().unwrap());
    let open = RolloutEnd { began: Some(at), ..RolloutEnd::default() };
    let over = RolloutEnd { end: Some((at, CodexTurnEnd::default())), ..RolloutEnd::default() };
    assert_eq!(turn_signals(open.clone(), later), []);
    assert_eq!(turn_signals(over.clone(), later), []);
    assert_eq!(turn_signals(open, Some(at)).len(), 1);
    assert_eq!(turn_signals(over, Some(at)).len(), 2);
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
        let wanted: Vec<Signal> =
            wanted.map(|activity| signals::activity(activity, Source::Title)).into_iter().collect();
        assert_eq!(Codex.title_signals(title), wanted, "{title}");
    }
}

#[test]
fn stream_reports_the_conversation_and_how_the_turn_ended() {
    let started = format!(r#"{{"type":"thread.started","thread_id":"{TOOL_ID}"}}"#);
    let named = signals::conversation(TOOL_ID, Evidence::Stream);
    assert_eq!(
        Codex.stream_signals(&started),
        [named, signals::activity(Activity::Working, Source::Stream)]
    );
    let completed = r#"{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":5}}"#;
    assert_eq!(Codex.stream_signals(completed), [signals::answered("")]);
    let message = "Connection failed: error sending request";
    let line = format!(r#"{{"type":"turn.failed","error":{{"message":"{message}"}}}}"#);
    let class = FailureClass::Connection;
    let failure = Failure { class, message: message.to_owned(), resets_at: None };
    assert_eq!(Codex.stream_signals(&line), [signals::failed("", failure)], "{line}");
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
        assert_eq!(Codex.stream_signals(line), [], "{line}");
    }
}

#[test]
fn watched_for_returns_the_folders_of_the_conversation_and_of_a_new_one() {
    let home = Home::new();
    let folder = |below: &str| home.folder.path().join(below);
    assert_eq!(Codex.watched(&home.place), [folder("thread-writer-locks")]);
    let id = VendorSessionId::new("01a1e1b4-9591-7600-96ed-7294b417ca9a");
    let now = "2026-12-01T12:00:00Z".parse().unwrap();
    let found = Codex.watched_for(&home.disk, &home.place, Some(&id), now);
    let days = ["2026/11/30", "2026/12/01", "2026/12/02", "2026/11/16"];
    assert_eq!(found, days.map(|day| folder("sessions").join(day)));
    let same_day = "2026-11-16T12:00:00Z".parse().unwrap();
    assert_eq!(Codex.watched_for(&home.disk, &home.place, Some(&id), same_day).len(), 3);
    assert_eq!(Codex.watched_for(&home.disk, &home.place, None, now).len(), 3);
}
