use segue_core::model::FailureClass;

use super::*;

const ID: &str = "ses_01980000000070008000000000000001";

/// Recorded with version 1.18.33: a turn with a tool call, and a failed turn.
const STREAM: &str = include_str!("../fixtures/stream.jsonl");

fn signals_of(rest: &str) -> Vec<Signal> {
    let mut found = OpenCode.hook_signals(&format!(r#"{{"session":"{ID}",{rest}}}"#));
    assert_eq!(found.remove(0), signals::conversation(ID, Evidence::Hook));
    found
}

fn active(activity: Activity) -> Signal {
    signals::activity(activity, Source::Hook)
}

#[test]
fn reports_of_the_plugin_become_activity_signals() {
    for (rest, wanted) in [
        (r#""event":"idle""#, vec![active(Activity::Idle)]),
        (r#""event":"working""#, vec![active(Activity::Working)]),
        (r#""event":"entered""#, Vec::new()),
        (
            r#""event":"waiting","reason":"permission""#,
            vec![active(Activity::Waiting(WaitingFor::Permission))],
        ),
        (
            r#""event":"waiting","reason":"question""#,
            vec![active(Activity::Waiting(WaitingFor::Question))],
        ),
    ] {
        assert_eq!(signals_of(rest), wanted, "{rest}");
    }
    for other in ["", "{}", r#"{"event":"idle","session":"../x"}"#] {
        assert!(OpenCode.hook_signals(other).is_empty(), "{other}");
    }
}

#[test]
fn signal_of_a_turn_end_contains_the_answer_or_the_failure() {
    let turn_ended = signals_of(r#""event":"ended","text":"done""#);
    assert_eq!(turn_ended, [signals::answered("done"), active(Activity::Idle)]);
    let broken_off =
        signals_of(r#""event":"ended","error":{"name":"MessageAbortedError","data":{}}"#);
    assert_eq!(broken_off[0], signals::interrupted());
    let limit = r#""event":"failing","error":{"data":{"message":"You exceeded your quota"}},"until":1893456000000.5"#;
    let [Signal::TurnEnded { ok: false, failure: Some(failure), .. }] = &signals_of(limit)[..]
    else {
        unreachable!("{:?}", signals_of(limit));
    };
    assert_eq!(failure.class, FailureClass::UsageLimit);
    assert_eq!(failure.resets_at, "2030-01-01T00:00:00Z".parse().ok());
}

#[test]
fn recorded_output_names_the_conversation_and_ends_each_turn() {
    let found: Vec<Signal> =
        STREAM.lines().flat_map(|line| OpenCode.stream_signals(line)).collect();
    let is_conversation = |signal: &&Signal| matches!(signal, Signal::Conversation { id, evidence: Evidence::Stream } if id.as_str().starts_with("ses_"));
    assert_eq!(found.iter().filter(is_conversation).count(), STREAM.lines().count());
    let ends: Vec<_> = found
        .iter()
        .filter_map(|signal| match signal {
            Signal::TurnEnded { ok, failure, .. } => {
                Some((*ok, failure.as_ref().map(|signal| signal.class)))
            }
            _ => None,
        })
        .collect();
    assert_eq!(ends, [(true, None), (false, Some(FailureClass::Account))]);
    assert!(OpenCode.stream_signals("no json").is_empty());
}
