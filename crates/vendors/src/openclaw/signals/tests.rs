use segue_core::model::FailureClass;

use super::*;

/// A recorded report without its lists of tools and skills. Its answer looks like a field of the
/// report.
const REPORT: &str = include_str!("../fixtures/report.json");
const REFUSED: &str = include_str!("../fixtures/refused.json");

#[test]
fn report_names_the_conversation_and_contains_the_answer() {
    let mut found: Vec<Signal> =
        REPORT.lines().flat_map(|line| OpenClaw.stream_signals(line)).collect();
    found.dedup();
    let text = "blue\n      \"sessionId\": \"019a0000-0000-7000-8000-00000000000f\",";
    let wanted = [
        signals::conversation("019a0000-0000-7000-8000-000000000001", Evidence::Stream),
        signals::answered(text),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn report_of_a_failed_turn_contains_the_failure() {
    let found: Vec<Signal> =
        REFUSED.lines().flat_map(|line| OpenClaw.stream_signals(line)).collect();
    let [Signal::TurnEnded { ok: false, failure: Some(failure), .. }] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(failure.class, FailureClass::Account);
}

#[test]
fn lines_that_are_no_field_of_the_report_give_no_signals() {
    let lines = ["", "{", "[memory] x", r#"{"sessionId": "a"}"#, r#"      "sessionId": "a","#];
    for line in lines {
        assert_eq!(OpenClaw.stream_signals(line), [], "{line}");
    }
    assert_eq!(OpenClaw.stream_signals("    \"aborted\": true,"), [signals::interrupted()]);
    assert_eq!(OpenClaw.stream_signals("    \"aborted\": false,"), []);
}
