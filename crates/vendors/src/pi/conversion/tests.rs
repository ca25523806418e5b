use std::collections::BTreeSet;

use segue_core::model::VendorSessionId;

use super::*;
use crate::pi::transcript;
use crate::testing::turns::{as_read_back, read_turns, sample_turns, write_turns};
use crate::testing::{Home, json_lines};

const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";
const RECORDED: &str = include_str!("../fixtures/recorded.jsonl");

fn wanted() -> Vec<Turn> {
    let mut turns = as_read_back(&sample_turns());
    for tool in turns.iter_mut().filter_map(|turn| turn.tool.as_mut()) {
        tool.name = "Bash".to_owned();
    }
    turns
}

#[test]
fn written_transcript_reads_back_as_the_same_turns() {
    let home = Home::new();
    let settings = r#"{"defaultProvider":"scripted","defaultModel":"scripted-1"}"#;
    home.write("settings.json", settings);
    let (transcription, bytes) = write_turns(&Pi, &home, (ID, None), &sample_turns());
    let Target::Transcript(path) = transcription.target else { panic!("no transcript") };
    assert_eq!(path, paths::transcript(&home.disk, &home.place, ID));
    let path = home.write("written.jsonl", &bytes);
    assert_eq!(read_turns(&Pi, &path), wanted());
    let id = VendorSessionId::new(ID);
    let found = transcript::conversation_at(&home.disk, &path, &id).unwrap().unwrap();
    assert_eq!(found.cwd, home.place.cwd);
    assert!(!found.turn_open);
    let last = json_lines(&bytes).pop().unwrap();
    assert_eq!((&last["type"], &last["modelId"]), (&"model_change".into(), &"scripted-1".into()));
    let names: BTreeSet<String> =
        json_lines(&bytes).iter().map(|line| line["id"].to_string()).collect();
    assert_eq!(names.len(), json_lines(&bytes).len());
}

#[test]
fn appended_entries_follow_the_last_line_and_keep_the_model() {
    let home = Home::new();
    let path = home.write("transcript.jsonl", RECORDED);
    let before = read_turns(&Pi, &path);
    let (transcription, bytes) = write_turns(&Pi, &home, (ID, Some(&path)), &sample_turns());
    assert_eq!(transcription.target, Target::Transcript(path.clone()));
    let added = json_lines(&bytes);
    assert_eq!(added[0]["type"], "message", "an addition has no header");
    let last = added.last().unwrap();
    assert_eq!([&last["provider"], &last["modelId"]], ["fake", "fake-1"], "the model is kept");
    home.write("transcript.jsonl", [RECORDED.as_bytes(), &bytes].concat());
    assert_eq!(read_turns(&Pi, &path), [before, wanted()].concat());
}
