use segue_core::model::WaitingFor;

use super::*;
use crate::testing::{Home, process};

const ID: &str = "6d1c4bb0-4a8e-4c83-9a53-0f1f7f9b2a11";
const CLEARED: &str = "7749ca22-9dcc-44a4-afbb-39d72b822899";
const ENTRY: &str = include_str!("../fixtures/registry-waiting.json");

#[test]
fn own_registry_entry_yields_conversation_and_activity() {
    let home = Home::new();
    let path = home.write("sessions/4.json", ENTRY);
    let waiting = Activity::Waiting(WaitingFor::Permission);
    let wanted = [
        signals::conversation(ID, Evidence::Registry),
        signals::activity(waiting, Source::Registry),
    ];
    assert_eq!(Claude.file_signals(&home.disk, &path, &process(4, 1_232_756)), wanted);
}

#[test]
fn registry_entry_after_a_clear_yields_the_new_id() {
    let home = Home::new();
    let path = home.write("sessions/4.json", ENTRY.replace(ID, CLEARED));
    let found = Claude.file_signals(&home.disk, &path, &process(4, 1_232_756));
    assert_eq!(found[0], signals::conversation(CLEARED, Evidence::Registry));
}

#[test]
fn entries_of_other_processes_and_deleted_entries_yield_no_signal() {
    let home = Home::new();
    let path = home.write("sessions/4.json", ENTRY);
    assert_eq!(Claude.file_signals(&home.disk, &path, &process(5, 1_232_756)), []);
    assert_eq!(Claude.file_signals(&home.disk, &path, &process(4, 1)), [], "the pid was reused");
    let other = home.write("projects/-code-a/4.json", ENTRY);
    assert_eq!(Claude.file_signals(&home.disk, &other, &process(4, 1_232_756)), []);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(Claude.file_signals(&home.disk, &path, &process(4, 1_232_756)), []);
}

fn hook(event: &str) -> Vec<Signal> {
    let all = include_str!("../fixtures/hooks.jsonl").lines();
    let name = format!(r#""hook_event_name":"{event}""#);
    Claude.hook_signals(all.into_iter().find(|line| line.contains(&name)).unwrap())
}

#[test]
fn hooks_report_an_accepted_prompt_and_how_a_turn_ended() {
    let known = signals::conversation(ID, Evidence::Hook);
    let working = signals::activity(Activity::Working, Source::Hook);
    assert_eq!(hook("UserPromptSubmit"), [known.clone(), working]);
    let text = "turns=1 first=<<first ALPHA>> last=<<first ALPHA>>".to_owned();
    assert_eq!(hook("Stop"), [known.clone(), signals::answered(text)]);
    let failed = hook("StopFailure");
    assert_eq!(failed[0], known);
    let Signal::TurnEnded { ok: false, failure: Some(failure), .. } = &failed[1] else {
        panic!("{failed:?}");
    };
    assert_eq!(failure.class, FailureClass::Service);
    assert!(failure.message.starts_with("API Error: 500"), "{failure:?}");
}

#[test]
fn hooks_that_may_name_another_conversation_yield_no_signal() {
    for event in ["SessionStart", "SessionEnd"] {
        assert_eq!(hook(event), [], "{event}");
    }
    let stop = include_str!("../fixtures/hooks.jsonl").lines().nth(2).unwrap();
    assert_ne!(Claude.hook_signals(stop), []);
    assert_eq!(
        Claude.hook_signals(&stop.replacen('{', r#"{"agent_id":"a1","#, 1)),
        [],
        "a hook of a subagent"
    );
    assert_eq!(Claude.hook_signals(&stop.replace(ID, "../x")), []);
    assert_eq!(Claude.hook_signals("not json"), []);
}

#[test]
fn stream_reports_the_conversation_and_how_the_turn_ended() {
    let lines: Vec<&str> = include_str!("../fixtures/stream.jsonl").lines().collect();
    let working = signals::activity(Activity::Working, Source::Stream);
    let id = "a421dabc-d4b8-4e16-995d-7f5530d4ca3f";
    assert_eq!(
        Claude.stream_signals(lines[0]),
        [signals::conversation(id, Evidence::Stream), working]
    );
    let text = "turns=1 first=<<hello ALPHA>> last=<<hello ALPHA>>".to_owned();
    let cost = Signal::Cost { total: UsdAmount::from_dollars(0.000_35).unwrap() };
    assert_eq!(Claude.stream_signals(lines[1]), [cost, signals::answered(text)]);
    let classes = [
        FailureClass::Request,
        FailureClass::Account,
        FailureClass::Account,
        FailureClass::Request,
        FailureClass::UsageLimit,
        FailureClass::UsageLimit,
        FailureClass::Service,
        FailureClass::Service,
        FailureClass::Stream,
        FailureClass::Other,
        FailureClass::Other,
        FailureClass::Connection,
    ];
    assert_eq!(lines.len(), 2 + classes.len());
    for (line, class) in lines[2..].iter().zip(classes) {
        let found = Claude.stream_signals(line);
        let [.., Signal::TurnEnded { ok: false, text, failure: Some(failure) }] = &found[..] else {
            panic!("{line}: {found:?}");
        };
        assert_eq!((failure.class, &failure.message), (class, text), "{line}");
        assert!(!text.is_empty(), "{line}");
        let has_cost = !line.contains("\"total_cost_usd\":0,");
        assert_eq!(found.len(), 1 + usize::from(has_cost), "{line}");
    }
}

#[test]
fn rejected_rate_limit_event_reports_when_the_limit_ends() {
    let line = |status: &str| {
        format!(
            r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"{status}","resetsAt":1893492000,"rateLimitType":"five_hour","isUsingOverage":false}},"session_id":"{ID}"}}"#
        )
    };
    let found = Claude.stream_signals(&line("rejected"));
    let [Signal::TurnEnded { ok: false, failure: Some(failure), .. }] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(failure.class, FailureClass::UsageLimit);
    assert_eq!(failure.resets_at.unwrap().to_string(), "2030-01-01T10:00:00Z");
    assert_eq!(Claude.stream_signals(&line("allowed")), []);
}

#[test]
fn other_output_yields_no_signal() {
    let retry = r#"{"type":"system","subtype":"api_retry","session_id":"x"}"#;
    for line in [retry, r#"{"type":"assistant","message":{}}"#, "not json", "", "[]"] {
        assert_eq!(Claude.stream_signals(line), [], "{line}");
    }
}
