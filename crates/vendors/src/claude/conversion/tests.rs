use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::testing::turns::{as_read_back, read_turns, sample_turns, write_turns};
use crate::testing::{Home, json_lines};

use super::*;

const ID: &str = "6d1c4bb0-4a8e-4c83-9a53-0f1f7f9b2a11";
const INTERACTIVE: &str = include_str!("../fixtures/interactive.jsonl");

/// Returns these turns without model and token usage.
fn plain(turns: Vec<Turn>) -> Vec<Turn> {
    turns.into_iter().map(|turn| Turn { model: None, usage: None, ..turn }).collect()
}

/// Returns the sample turns as Claude Code's format keeps them.
fn wanted() -> Vec<Turn> {
    let mut turns = as_read_back(&sample_turns());
    // Only tool calls have the name of the tool.
    for tool in turns.iter_mut().filter(|turn| turn.role == Role::ToolResult) {
        tool.tool.as_mut().unwrap().name.clear();
    }
    turns
}

#[test]
fn written_turns_are_read_back_and_writing_is_deterministic() {
    let home = Home::new();
    let (transcription, bytes) = write_turns(&Claude, &home, (ID, None), &sample_turns());
    let Target::Transcript(path) = transcription.target else { panic!("no transcript") };
    assert!(path.ends_with(Path::new("projects/-code-a").join(format!("{ID}.jsonl"))));
    let path = home.write("written.jsonl", &bytes);
    assert_eq!(plain(read_turns(&Claude, &path)), wanted());
    let (_, again) = write_turns(&Claude, &home, (ID, None), &sample_turns());
    assert_eq!(bytes, again, "the same turns are written as the same bytes");
}

#[test]
fn user_text_that_looks_like_text_of_claude_code_stays_user_text() {
    let home = Home::new();
    let texts =
        ["<command-name>/x</command-name>", "[Request interrupted by user]", "<bash-input>"];
    let turns = texts.map(|text| Turn::new(Role::User, text).at(Some(Timestamp::UNIX_EPOCH)));
    let (_, bytes) = write_turns(&Claude, &home, (ID, None), &turns);
    let path = home.write("written.jsonl", bytes);
    assert_eq!(read_turns(&Claude, &path), turns);
    let messages = crate::claude::transcript::messages_since(&home.disk, &path, 0).unwrap();
    assert_eq!(messages, texts);
}

/// In large files, Claude Code finds UUIDs by searching for bytes.
#[test]
fn written_records_have_unique_ids_and_the_required_order_of_fields() {
    let home = Home::new();
    let (_, bytes) = write_turns(&Claude, &home, (ID, None), &sample_turns());
    let text = String::from_utf8(bytes.clone()).unwrap();
    let mut names = BTreeSet::new();
    let mut parent = Value::Null;
    for (line, record) in text.lines().zip(json_lines(&bytes)).skip(1) {
        assert_eq!(record["parentUuid"], parent);
        parent = record["uuid"].clone();
        let name = parent.as_str().unwrap();
        assert!(names.insert(name.to_owned()) && paths::is_id(name), "{name}");
        assert!(line.starts_with("{\"parentUuid\":"), "{line}");
        assert!(line.contains(&format!("\"uuid\":\"{name}\",\"timestamp\":\"20")), "{line}");
        let message = &record["message"];
        assert!(message["content"].is_array(), "{line}");
        if record["type"] == "assistant" {
            let id = message["id"].as_str().unwrap();
            assert!(names.insert(id.to_owned()), "{id}");
            assert_eq!(message["model"], "unknown");
        }
    }
    let title = &json_lines(&bytes)[0];
    assert_eq!(
        (&title["type"], &title["customTitle"]),
        (&"custom-title".into(), &"fleet/one".into())
    );
}

#[test]
fn added_turns_continue_from_the_tip() {
    let home = Home::new();
    let path = home.write("transcript.jsonl", INTERACTIVE);
    let before = read_turns(&Claude, &path);
    let (_, bytes) = write_turns(&Claude, &home, (ID, Some(&path)), &sample_turns());
    let first = &json_lines(&bytes)[0];
    assert_eq!(first["type"], "user", "no title is written");
    let path = home.write("transcript.jsonl", [INTERACTIVE.as_bytes(), &bytes].concat());
    let all = plain(read_turns(&Claude, &path));
    assert_eq!(all, [plain(before), wanted()].concat());
    let (_, more) = write_turns(&Claude, &home, (ID, Some(&path)), &sample_turns());
    let uuids = |bytes: &[u8]| json_lines(bytes).into_iter().map(|line| line["uuid"].to_string());
    let names: BTreeSet<String> = uuids(&bytes).chain(uuids(&more)).collect();
    assert_eq!(names.len(), 2 * sample_turns().len(), "every UUID is unique");
}
