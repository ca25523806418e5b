use segue_core::model::FailureClass;

use super::*;

const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";

/// A successful turn, then a refused one.
const STREAM: &str = include_str!("../fixtures/stream.jsonl");

fn named(evidence: Evidence) -> Signal {
    Signal::Conversation { id: VendorSessionId::new(ID), evidence }
}

fn active(activity: Activity, source: Source) -> Signal {
    Signal::Activity { activity, source }
}

fn told(rest: &str) -> Vec<Signal> {
    of_extension(&format!(r#"{{"session":"{ID}",{rest}}}"#))
}

#[test]
fn every_report_of_the_extension_names_the_conversation() {
    for (event, activity) in [("working", Activity::Working), ("idle", Activity::Idle)] {
        let wanted = [named(Evidence::Hook), active(activity, Source::Hook)];
        assert_eq!(told(&format!(r#""event":"{event}""#)), wanted);
    }
    assert_eq!(of_extension(r#"{"session":"../x","event":"idle"}"#), []);
    assert_eq!(of_extension("not json"), []);
}

#[test]
fn end_of_a_turn_carries_its_answer_or_its_failure() {
    let ended = |message: &str| {
        let mut found = told(&format!(r#""event":"ended",{message}"#));
        assert_eq!(found.pop(), Some(active(Activity::Idle, Source::Hook)));
        found.pop().unwrap()
    };
    let answered =
        ended(r#""message":{"role":"assistant","stopReason":"stop","content":[{"text":"yes"}]}"#);
    assert_eq!(answered, Signal::TurnEnded { ok: true, text: "yes".into(), failure: None });
    let aborted = ended(r#""message":{"role":"assistant","stopReason":"aborted"}"#);
    assert_eq!(aborted, Signal::TurnEnded { ok: false, text: String::new(), failure: None });
    let failed = ended(
        r#""message":{"role":"assistant","stopReason":"error","errorMessage":"429 slow down"}"#,
    );
    let refused = ended(r#""error":"No API key found for google.""#);
    for (signal, wanted) in [(failed, FailureClass::UsageLimit), (refused, FailureClass::Account)] {
        let Signal::TurnEnded { ok: false, failure: Some(failure), .. } = signal else {
            panic!("{signal:?}")
        };
        assert_eq!(failure.class, wanted);
    }
}

#[test]
fn recorded_output_names_the_conversation_and_ends_each_turn() {
    let found: Vec<Signal> = STREAM.lines().flat_map(of_stream).collect();
    let [named_first, works, answered, named_again, _, refused] = found.as_slice() else {
        panic!("{found:#?}")
    };
    assert_eq!([named_first, named_again], [&named(Evidence::Stream); 2]);
    assert_eq!(*works, active(Activity::Working, Source::Stream));
    let text = "turns=2 last=<<second>>".to_owned();
    assert_eq!(*answered, Signal::TurnEnded { ok: true, text, failure: None });
    let Signal::TurnEnded { ok: false, failure: Some(failure), .. } = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(failure.class, FailureClass::Account);
}

#[test]
fn prepared_header_in_the_output_names_the_conversation() {
    let line = format!(r#"{{"cwd":"/code/a","id":"{ID}","type":"session","version":3}}"#);
    assert_eq!(of_stream(&line)[0], named(Evidence::Stream));
}

#[test]
fn other_lines_of_the_output_give_no_signals() {
    for line in [r#"{"type":"agent_start"}"#, r#"{"type":"message_update","message":{}}"#, "{", ""]
    {
        assert_eq!(of_stream(line), [], "{line}");
    }
}
