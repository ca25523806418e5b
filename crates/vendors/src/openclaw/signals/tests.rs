use segue_core::model::FailureClass;

use super::*;

/// A recorded report without its lists of tools and skills. Its answer looks like a field of the
/// report.
const REPORT: &str = include_str!("../fixtures/report.json");
const REFUSED: &str = include_str!("../fixtures/refused.json");

#[test]
fn report_names_the_conversation_and_contains_the_answer() {
    let mut signals: Vec<Signal> = REPORT.lines().flat_map(of_stream).collect();
    signals.dedup();
    let id = VendorSessionId::new("019a0000-0000-7000-8000-000000000001");
    let text = "blue\n      \"sessionId\": \"019a0000-0000-7000-8000-00000000000f\",".to_owned();
    let wanted = [
        Signal::Conversation { id, evidence: Evidence::Stream },
        Signal::TurnEnded { ok: true, text, failure: None },
    ];
    assert_eq!(signals, wanted);
}

#[test]
fn report_of_a_failed_turn_contains_the_failure() {
    let signals: Vec<Signal> = REFUSED.lines().flat_map(of_stream).collect();
    let [Signal::TurnEnded { ok: false, failure: Some(failure), .. }] = &signals[..] else {
        panic!("{signals:?}");
    };
    assert_eq!(failure.class, FailureClass::Account);
}

#[test]
fn lines_that_are_no_field_of_the_report_give_no_signals() {
    let lines = ["", "{", "[memory] x", r#"{"sessionId": "a"}"#, r#"      "sessionId": "a","#];
    for line in lines {
        assert_eq!(of_stream(line), [], "{line}");
    }
    let aborted = Signal::TurnEnded { ok: false, text: String::new(), failure: None };
    assert_eq!(of_stream("    \"aborted\": true,"), [aborted]);
    assert_eq!(of_stream("    \"aborted\": false,"), []);
}
