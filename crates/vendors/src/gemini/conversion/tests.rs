use segue_core::model::VendorSessionId;

use super::*;
use crate::testing::Home;
use crate::testing::turns::{order, read_turns, write_turns};

const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";

fn conversation() -> Vec<Turn> {
    let turn = |role, text: &str| Turn::new(role, text).at(Some(Timestamp::UNIX_EPOCH));
    let tool = |id: &str, failed| Tool { id: id.to_owned(), name: "Bash".to_owned(), failed };
    vec![
        turn(Role::User, "/list them ü"),
        turn(Role::User, "?\u{200b} and more"),
        turn(Role::User, "\u{200b}unseen"),
        turn(Role::User, "  <session_context> is a word"),
        turn(Role::Assistant, "looking\n```\ncode\n```"),
        turn(Role::ToolCall, r#"{"path":"x", "command":"ls","n":1.0}"#)
            .with_tool(tool("t1", false)),
        turn(Role::ToolResult, "a b").with_tool(tool("t1", false)),
        turn(Role::ToolCall, r#"{"input":"{\"no"}"#).with_tool(tool("t2", false)),
        turn(Role::ToolResult, "none").with_tool(tool("t2", true)),
        turn(Role::Assistant, "two"),
        turn(Role::Assistant, "and one more"),
    ]
}

#[test]
fn written_turns_are_read_back() {
    let home = Home::new();
    let turns = conversation();
    let mut written = turns.clone();
    written[7].text = "{\"no".to_owned();
    let (transcription, bytes) = write_turns(&Gemini, &home, (ID, None), &written);
    let target = paths::restored_as(&home.disk, &home.place, &VendorSessionId::new(ID));
    assert_eq!(transcription.target, Target::Transcript(target));
    assert!(transcription.extra_files[0].path.ends_with(".project_root"));
    assert_eq!(transcription.extra_files[0].contents, "/code/a");
    let path = home.write("written.jsonl", &bytes);
    assert_eq!(read_turns(&Gemini, &path), turns);
    let first: Value =
        serde_json::from_slice(bytes.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!(first["sessionId"], ID);
}

#[test]
fn appended_turns_follow_the_existing_turns() {
    let home = Home::new();
    let turns = conversation();
    let (_, mut bytes) = write_turns(&Gemini, &home, (ID, None), &turns[..7]);
    for (from, to) in [(7, 9), (9, 11)] {
        let path = home.write("written.jsonl", &bytes);
        let (transcription, more) =
            write_turns(&Gemini, &home, (ID, Some(&path)), &turns[from..to]);
        assert_eq!(transcription.target, Target::Transcript(path));
        bytes.extend(more);
    }
    assert_eq!(
        bytes.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{\"kind\"")).count(),
        1
    );
    let path = home.write("written.jsonl", &bytes);
    assert_eq!(read_turns(&Gemini, &path), turns);
}

#[test]
fn summary_is_written_as_a_user_message_and_blank_turns_are_omitted() {
    let home = Home::new();
    let turns = [
        Turn::new(Role::Summary, "so far"),
        Turn::new(Role::User, " \n"),
        Turn::new(Role::Assistant, ""),
    ];
    let (_, bytes) = write_turns(&Gemini, &home, (ID, None), &turns);
    let path = home.write("written.jsonl", &bytes);
    let wanted = [Turn::new(Role::User, "so far").at(Some(Timestamp::UNIX_EPOCH))];
    assert_eq!(read_turns(&Gemini, &path), wanted);
}

#[test]
fn transcription_refuses_an_invalid_id() {
    let home = Home::new();
    let id = VendorSessionId::new("../x");
    assert!(Gemini.transcription(&order(&home, &id, None)).is_err());
}
