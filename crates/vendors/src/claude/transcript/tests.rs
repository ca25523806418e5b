use super::*;
use crate::testing::Home;

const ID: &str = "6d1c4bb0-4a8e-4c83-9a53-0f1f7f9b2a11";
const INTERACTIVE: &str = include_str!("../fixtures/interactive.jsonl");
const CLEARED: &str = include_str!("../fixtures/cleared.jsonl");
const TYPED: &str = include_str!("../fixtures/typed.jsonl");

fn write(home: &Home, id: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    home.write(&format!("projects/-code-a/{id}.jsonl"), bytes)
}

fn look(bytes: impl AsRef<[u8]>) -> Option<Conversation> {
    let home = Home::new();
    let path = write(&home, ID, bytes);
    conversation_at(&home.disk, &path, &VendorSessionId::new(ID)).unwrap()
}

/// Returns the recorded conversation up to this line, counted from one.
fn up_to(line: usize) -> String {
    INTERACTIVE.lines().take(line).map(|line| format!("{line}\n")).collect()
}

#[test]
fn recorded_conversation_yields_folder_time_messages_and_turn_state() {
    let found = look(INTERACTIVE).unwrap();
    assert_eq!(found.cwd, Path::new("/code/a"));
    assert_eq!(found.began_at.to_string(), "2026-11-16T00:16:41.276Z");
    assert_eq!(found.first_message.as_deref(), Some("first ALPHA"));
    assert_eq!(found.last_answer.as_deref(), Some("turns=9 first=<<first ALPHA>> last=<<?>>"));
    assert!(!found.turn_open);
}

#[test]
fn turn_is_open_from_the_prompt_until_its_end() {
    let table = [
        (6, true, "a prompt"),
        (8, true, "a text that Claude Code added to a prompt"),
        (9, false, "an answer"),
        (11, false, "a note of Claude Code after an answer"),
        (13, true, "the second prompt"),
        (15, false, "interrupted by a person"),
        (17, true, "the third prompt"),
        (18, false, "an error of the service"),
        (22, true, "a call of a tool"),
        (23, true, "the result of a tool"),
        (24, false, "a tool that a person refused"),
        (27, true, "a prompt, and another prompt that waits"),
        (28, false, "the answer to the first of them"),
        (33, true, "the prompt that waited"),
        (43, false, "a command of Claude Code itself"),
    ];
    for (line, is_open, last_record) in table {
        assert_eq!(look(up_to(line)).unwrap().turn_open, is_open, "{last_record}");
    }
}

#[test]
fn answer_stored_before_its_question_ends_the_turn() {
    let mut lines: Vec<&str> = INTERACTIVE.lines().take(9).collect();
    let answer = lines.remove(8);
    lines.insert(3, answer);
    let found = look(lines.join("\n")).unwrap();
    assert!(!found.turn_open);
    assert!(found.last_answer.is_some());
    assert_eq!(found.first_message.as_deref(), Some("first ALPHA"));
}

#[test]
fn the_last_answer_is_that_of_the_last_turn_that_ended() {
    let first = Some("turns=1 first=<<first ALPHA>> last=<<first ALPHA>>");
    assert_eq!(look(up_to(6)).unwrap().last_answer, None);
    assert_eq!(look(up_to(13)).unwrap().last_answer.as_deref(), first);
    assert_eq!(look(up_to(18)).unwrap().last_answer.as_deref(), first, "an error is no answer");
}

#[test]
fn a_file_without_any_message_is_no_conversation() {
    assert_eq!(look(""), None);
    assert_eq!(look(up_to(5)), None, "only notes of Claude Code");
    let torn = up_to(6);
    assert_eq!(look(&torn[..torn.len() - 30]), None, "the first message is torn");
    let home = Home::new();
    let absent = home.folder.path().join("projects/-code-a/absent.jsonl");
    assert_eq!(conversation_at(&home.disk, &absent, &VendorSessionId::new(ID)).unwrap(), None);
}

#[test]
fn cleared_conversation_exists_before_its_first_message() {
    let nothing_said: String = CLEARED.lines().take(5).map(|line| format!("{line}\n")).collect();
    let found = look(nothing_said).unwrap();
    assert_eq!((found.first_message, found.turn_open), (None, false));
    assert_eq!(look(CLEARED).unwrap().first_message.as_deref(), Some("after BETA"));
}

#[test]
fn torn_and_invalid_lines_are_ignored() {
    let mut bytes = up_to(11).into_bytes();
    bytes.extend(b"\xff\xfe garbage\n{\"type\":\"user\"}\n[]\n");
    bytes.extend(&INTERACTIVE.lines().nth(12).unwrap().as_bytes()[..90]);
    assert!(!look(&bytes).unwrap().turn_open);
    let whole = up_to(13);
    assert!(look(whole.trim_end()).unwrap().turn_open, "only the line break is missing");
}

#[test]
fn messages_since_returns_user_messages_without_texts_that_claude_code_added() {
    let home = Home::new();
    let path = write(&home, ID, INTERACTIVE);
    let messages = messages_since(&home.disk, &path, 0).unwrap();
    let wanted = [
        "first ALPHA",
        "second [[hold: a]]",
        "third [[status: 500]]",
        "fourth [[tool: touch x]]",
        "fifth [[hold: b]]",
        "queued one",
        "!echo bang",
        "# remember this",
        "?",
    ];
    assert_eq!(messages, wanted);
    let since = up_to(12).len() as u64;
    assert_eq!(messages_since(&home.disk, &path, since).unwrap(), wanted[1..]);
    let path = write(&home, ID, CLEARED);
    assert_eq!(messages_since(&home.disk, &path, 0).unwrap(), ["after BETA"]);
}

#[test]
fn typed_messages_equal_their_recorded_form() {
    let home = Home::new();
    let path = write(&home, ID, TYPED);
    let messages = messages_since(&home.disk, &path, 0).unwrap();
    let typed = [
        "/cost",
        "/help x",
        "!echo bang",
        "# note",
        "? what",
        "-- --flag",
        "- item",
        "@README.md look",
        "\tindented\twith tabs",
        "line1\nline2\nline3",
        "\n/cost on second line",
        "ends with newline\n",
        "  two leading spaces  ",
        "&background",
        "~tilde",
    ];
    let wanted: Vec<String> = typed.map(|text| typing::typing(text).recorded_as).to_vec();
    assert_eq!(messages[..wanted.len()], wanted);
    assert!(messages.iter().all(|text| !text.contains("bash-")), "{messages:?}");
}

#[test]
fn conversations_lists_only_those_that_began_in_the_folder() {
    let home = Home::new();
    let other = "7749ca22-9dcc-44a4-afbb-39d72b822899";
    write(&home, other, CLEARED);
    write(&home, ID, INTERACTIVE);
    write(&home, "11111111-4a8e-4c83-9a53-0f1f7f9b2a11", INTERACTIVE.replace("/code/a", "/code.a"));
    write(&home, "22222222-4a8e-4c83-9a53-0f1f7f9b2a11", "");
    write(&home, "no-id", INTERACTIVE);
    let found = Claude.conversations(&home.disk, &home.place).unwrap();
    let ids: Vec<&str> = found.iter().map(|conversation| conversation.id.as_str()).collect();
    assert_eq!(ids, [ID, other]);
}

#[test]
fn long_transcript_is_read_only_at_its_beginning_and_end() {
    let home = Home::new();
    let mut bytes = up_to(11);
    let filler = r#"{"type":"file-history-snapshot","snapshot":{}}"#;
    while bytes.len() < 3 * 1024 * 1024 {
        bytes.push_str(filler);
        bytes.push('\n');
    }
    bytes.extend(INTERACTIVE.lines().skip(11).map(|line| format!("{line}\n")));
    let path = write(&home, ID, &bytes);
    let found = conversation_at(&home.disk, &path, &VendorSessionId::new(ID)).unwrap().unwrap();
    assert_eq!(found.first_message.as_deref(), Some("first ALPHA"));
    assert!(!found.turn_open);
    assert!(home.disk.bytes_read() <= 128 * 1024, "{}", home.disk.bytes_read());
}

#[test]
fn first_message_longer_than_the_first_read_is_found() {
    let long = "word ".repeat(40_000);
    let found = look(up_to(9).replace("first ALPHA", &long)).unwrap();
    assert_eq!(found.first_message, Some(long));
}

#[test]
fn transcript_of_2_1_325_yields_its_first_message_and_an_ended_turn() {
    let home = Home::new();
    let text = include_str!("../fixtures/interactive-2.1.325.jsonl");
    let path = home.write(&format!("projects/-home-u-work/{ID}.jsonl"), text);
    let found = conversation_at(&home.disk, &path, &VendorSessionId::new(ID)).unwrap().unwrap();
    assert_eq!(found.first_message.as_deref(), Some("please [[TOOL:touch made-by-tool]]"));
    assert_eq!(found.cwd, Path::new("/home/u/work"));
    assert!(!found.turn_open, "{found:?}");
    assert!(found.last_answer.unwrap().starts_with("MARK turns=1"));
}
