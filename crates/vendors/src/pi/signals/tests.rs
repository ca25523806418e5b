use segue_core::model::FailureClass;

use super::*;

const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";

/// A successful turn, and then a turn with a rejected API key.
const STREAM: &str = include_str!("../fixtures/stream.jsonl");

fn signals_of(rest: &str) -> Vec<Signal> {
    Pi.hook_signals(&format!(r#"{{"session":"{ID}",{rest}}}"#))
}

#[test]
fn every_report_of_the_extension_names_the_conversation() {
    for (event, activity) in [("working", Activity::Working), ("idle", Activity::Idle)] {
        let wanted =
            [signals::conversation(ID, Evidence::Hook), signals::activity(activity, Source::Hook)];
        assert_eq!(signals_of(&format!(r#""event":"{event}""#)), wanted);
    }
    assert_eq!(Pi.hook_signals(r#"{"session":"../x","event":"idle"}"#), []);
    assert_eq!(Pi.hook_signals("not json"), []);
}

#[test]
fn signal_of_a_turn_end_contains_the_answer_or_the_failure() {
    let ended = |message: &str| {
        let mut found = signals_of(&format!(r#""event":"ended",{message}"#));
        assert_eq!(found.pop(), Some(signals::activity(Activity::Idle, Source::Hook)));
        found.pop().unwrap()
    };
    let answered =
        ended(r#""message":{"role":"assistant","stopReason":"stop","content":[{"text":"yes"}]}"#);
    assert_eq!(answered, signals::answered("yes"));
    let aborted = ended(r#""message":{"role":"assistant","stopReason":"aborted"}"#);
    assert_eq!(aborted, signals::interrupted());
    let failed = ended(
        r#""message":{"role":"assistant","stopReason":"error","errorMessage":"429 slow down"}"#,
    );
    let request_error = ended(r#""error":"No API key found for google.""#);
    for (signal, wanted) in
        [(failed, FailureClass::UsageLimit), (request_error, FailureClass::Account)]
    {
        let Signal::TurnEnded { ok: false, failure: Some(failure), .. } = signal else {
            panic!("{signal:?}")
        };
        assert_eq!(failure.class, wanted);
    }
}

#[test]
fn recorded_output_names_the_conversation_and_ends_each_turn() {
    let found: Vec<Signal> = STREAM.lines().flat_map(|line| Pi.stream_signals(line)).collect();
    let [named_first, working, answered, named_again, _, request_error] = found.as_slice() else {
        panic!("{found:#?}")
    };
    assert_eq!([named_first, named_again], [&signals::conversation(ID, Evidence::Stream); 2]);
    assert_eq!(*working, signals::activity(Activity::Working, Source::Stream));
    assert_eq!(*answered, signals::answered("turns=2 last=<<second>>"));
    let Signal::TurnEnded { ok: false, failure: Some(failure), .. } = request_error else {
        panic!("{request_error:?}")
    };
    assert_eq!(failure.class, FailureClass::Account);
}

#[test]
fn prepared_header_in_the_output_names_the_conversation() {
    let line = format!(r#"{{"cwd":"/code/a","id":"{ID}","type":"session","version":3}}"#);
    assert_eq!(Pi.stream_signals(&line)[0], signals::conversation(ID, Evidence::Stream));
}

#[test]
fn other_lines_of_the_output_give_no_signals() {
    for line in [r#"{"type":"agent_start"}"#, r#"{"type":"message_update","message":{}}"#, "{", ""]
    {
        assert_eq!(Pi.stream_signals(line), [], "{line}");
    }
}
