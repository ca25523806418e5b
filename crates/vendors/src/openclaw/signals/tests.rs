use segue_core::model::FailureClass;

use super::*;

/// Recorded; its lists of tools and skills are left out, and its answer is one that looks like a
/// field of the report.
const REPORT: &str = include_str!("../fixtures/report.json");
const REFUSED: &str = include_str!("../fixtures/refused.json");

#[test]
fn a_report_tells_the_conversation_and_the_answer() {
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
fn a_turn_that_failed_says_why() {
    let signals: Vec<Signal> = REFUSED.lines().flat_map(of_stream).collect();
    let [Signal::TurnEnded { ok: false, failure: Some(failure), .. }] = &signals[..] else {
        panic!("{signals:?}");
    };
    assert_eq!(failure.class, FailureClass::Account);
}

#[test]
fn what_is_no_field_is_nothing() {
    let lines = ["", "{", "[memory] x", r#"{"sessionId": "a"}"#, r#"      "sessionId": "a","#];
    for line in lines {
        assert_eq!(of_stream(line), [], "{line}");
    }
    let aborted = Signal::TurnEnded { ok: false, text: String::new(), failure: None };
    assert_eq!(of_stream("    \"aborted\": true,"), [aborted]);
    assert_eq!(of_stream("    \"aborted\": false,"), []);
}
