use segue_core::model::FailureClass;

use super::*;
use crate::testing::Home;

const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";

fn activity(activity: Activity, source: Source) -> Vec<Signal> {
    vec![signals::activity(activity, source)]
}

#[test]
fn title_gives_signals_of_work_and_questions_but_not_of_idle() {
    let working = activity(Activity::Working, Source::Title);
    assert_eq!(Gemini.title_signals("✦  Working… (proj)      "), working);
    let asks = activity(Activity::Waiting(WaitingFor::Permission), Source::Title);
    assert_eq!(Gemini.title_signals("✋  Action Required (proj)"), asks);
    for line in ["◇  Ready (proj)", "Gemini CLI (proj)", ""] {
        assert_eq!(Gemini.title_signals(line), [], "{line}");
    }
}

#[test]
fn stream_gives_the_conversation_and_the_end_of_the_turn() {
    let init = format!(
        r#"{{"type":"init","timestamp":"2026-11-16T01:31:09.911Z","session_id":"{ID}","model":"m"}}"#
    );
    let conversation = signals::conversation(ID, Evidence::Stream);
    assert_eq!(Gemini.stream_signals(&init)[0], conversation);
    let success =
        r#"{"type":"result","timestamp":"2026-11-16T01:31:10.047Z","status":"success","stats":{}}"#;
    assert_eq!(Gemini.stream_signals(success), [signals::answered("")]);
    let error = r#"{"type":"result","timestamp":"2026-11-16T01:39:06.887Z","status":"error","error":{"type":"unknown","message":"[API Error: quota. Please retry in 60s.]"},"stats":{}}"#;
    let found = Gemini.stream_signals(error);
    let [Signal::TurnEnded { ok: false, failure: Some(failure), .. }] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(failure.class, FailureClass::UsageLimit);
    assert_eq!(failure.resets_at.unwrap().to_string(), "2026-11-16T01:40:06.887Z");
    for line in [r#"{"type":"message","role":"user","content":"x"}"#, "Warning: x", ""] {
        assert_eq!(Gemini.stream_signals(line), [], "{line}");
    }
}

#[test]
fn transcript_gives_only_turns_since_the_process_started() {
    let home = Home::new();
    let path = home.write("session.jsonl", include_str!("../fixtures/interactive.jsonl"));
    let id = VendorSessionId::new(ID);
    let found = transcript_signals(&home.disk, &path, id.clone(), Timestamp::UNIX_EPOCH);
    let conversation = Signal::Conversation { id: id.clone(), evidence: Evidence::Transcript };
    assert_eq!(found[0], conversation);
    let Signal::TurnEnded { ok: false, failure: Some(failure), .. } = &found[1] else {
        panic!("{found:?}")
    };
    assert_eq!(failure.class, FailureClass::Request);
    let open_turn: String =
        include_str!("../fixtures/tool.jsonl").split_inclusive('\n').take(6).collect();
    let working = home.write("working.jsonl", open_turn);
    let found = transcript_signals(&home.disk, &working, id.clone(), Timestamp::UNIX_EPOCH);
    assert_eq!(found[1..], activity(Activity::Working, Source::Transcript));
    // The test helper reports the Unix epoch as the modification time of every file.
    let later = "2026-11-17T00:00:00Z".parse().unwrap();
    assert_eq!(transcript_signals(&home.disk, &path, id, later), []);
}

#[test]
fn summary_written_by_another_process_is_no_evidence() {
    let home = Home::new();
    let since = "2026-11-17T00:00:00Z".parse().unwrap();
    let is_evidence = |last: &str| {
        let text = format!("{}{last}\n", include_str!("../fixtures/tool.jsonl"));
        let path = home.write("session.jsonl", text);
        let length = home.disk.facts(&path).unwrap().unwrap().length;
        wrote_end(&GeminiTranscriptEnd::read(&home.disk, &path, length).unwrap(), since)
    };
    assert!(!is_evidence(r#"{"$set":{"summary":"a word","memoryScratchpad":{"version":1}}}"#));
    assert!(!is_evidence(r#"{"$set":{"lastUpdated":"2026-11-16T23:59:59.000Z"}}"#));
    assert!(is_evidence(r#"{"$set":{"lastUpdated":"2026-11-17T00:00:01.000Z"}}"#));
    assert!(is_evidence(&format!(r#"{{"$set":{{"sessionId":"{ID}"}}}}"#)));
}

#[test]
fn first_file_of_a_process_gives_only_failed_turns() {
    let home = Home::new();
    let path = home.write("session.jsonl", include_str!("../fixtures/first-file.jsonl"));
    let found = first_file_signals(&home.disk, &path, Timestamp::UNIX_EPOCH);
    let [Signal::TurnEnded { ok: false, failure: Some(failure), .. }] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(failure.class, FailureClass::Account);
    let later = "2026-11-17T00:00:00Z".parse().unwrap();
    assert_eq!(first_file_signals(&home.disk, &path, later), []);
    let answered = home.write("answered.jsonl", include_str!("../fixtures/tool.jsonl"));
    assert_eq!(first_file_signals(&home.disk, &answered, Timestamp::UNIX_EPOCH), []);
}
