use super::*;
use crate::testing::Home;

const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";
const INTERACTIVE: &str = include_str!("../fixtures/interactive.jsonl");
const TOOL: &str = include_str!("../fixtures/tool.jsonl");
const FAILED_FIRST: &str = include_str!("../fixtures/failed-first.jsonl");

fn id() -> VendorSessionId {
    VendorSessionId::new(ID)
}

fn home_with(text: &str) -> Home {
    let home = Home::new();
    home.write("projects.json", r#"{"projects":{"/code/a":"a"}}"#);
    home.write(&format!("tmp/a/chats/session-2026-11-16T00-14-{ID}.jsonl"), text);
    home
}

fn read_text(text: &str) -> Option<Conversation> {
    let home = home_with(text);
    Gemini.conversation(&home.disk, &home.place, &id()).unwrap()
}

/// Returns the first lines of a transcript.
fn first(text: &str, count: usize) -> String {
    text.split_inclusive('\n').take(count).collect()
}

#[test]
fn prepared_transcript_is_free_until_it_has_a_message() {
    for lines in [2, 3, 4, 5] {
        let home = home_with(&first(TOOL, lines));
        assert_eq!(Gemini.conversation(&home.disk, &home.place, &id()).unwrap(), None);
        assert!(Gemini.is_free(&home.disk, &home.place, &id()), "{lines}");
    }
    let home = home_with(&first(TOOL, 6));
    assert!(!Gemini.is_free(&home.disk, &home.place, &id()));
    assert!(Gemini.is_free(&home.disk, &Home::new().place, &id()));
}

#[test]
fn turn_is_open_until_the_last_answer() {
    let lines = TOOL.lines().count();
    for count in 6..=lines {
        let found = read_text(&first(TOOL, count)).unwrap();
        assert_eq!(found.first_message.as_deref(), Some("TOOL now"));
        let is_over = count >= lines - 1;
        assert_eq!(found.turn_open, !is_over, "{count}");
        assert_eq!(found.last_answer.is_some(), is_over, "{count}");
    }
    let torn = format!("{}{{\"id\":\"x", first(TOOL, 6));
    assert!(read_text(&torn).unwrap().turn_open);
}

#[test]
fn failed_or_interrupted_turn_is_not_open() {
    let found = read_text(INTERACTIVE).unwrap();
    assert!(!found.turn_open);
    assert_eq!(found.began_at.to_string(), "2026-11-16T00:14:30.929Z");
    assert_eq!(found.last_answer.as_deref().map(str::trim), Some("ANSWER to"));
    let cancelled =
        INTERACTIVE.lines().position(|line| line.contains("Request cancelled")).unwrap();
    assert!(read_text(&first(INTERACTIVE, cancelled)).unwrap().turn_open);
    assert!(!read_text(&first(INTERACTIVE, cancelled + 1)).unwrap().turn_open);
    let failed = read_text(FAILED_FIRST).unwrap();
    assert!(!failed.turn_open, "the message was undone");
    assert_eq!(failed.last_answer, None);
}

#[test]
fn messages_since_skips_copies_of_messages() {
    let home = home_with(INTERACTIVE);
    let path = paths::transcript(&home.disk, &home.place, &id());
    let messages = |offset| messages_since(&home.disk, &path, offset).unwrap();
    assert_eq!(messages(0), ["TOOL now", "TOOL again", "please status: 400"]);
    let offset = first(INTERACTIVE, 6).len() as u64;
    assert_eq!(messages(offset), ["TOOL again", "please status: 400"]);
    assert_eq!(messages(INTERACTIVE.len() as u64), Vec::<String>::new());
}

#[test]
fn conversations_without_a_message_are_not_listed() {
    let home = home_with(TOOL);
    let other = "1f1e1b40-9591-4600-96ed-7294b417ca9a";
    let text = FAILED_FIRST.replace("4f8985a6-7ca2-45db-9591-df663add1608", other);
    home.write("tmp/a/chats/session-2026-11-16T01-39-1f1e1b40.jsonl", &text);
    home.write("tmp/a/chats/session-2026-11-16T01-40-1f1e1b40.jsonl", first(&text, 2));
    home.write("tmp/a/chats/session-garbage.jsonl", "garbage\n");
    let found = Gemini.conversations(&home.disk, &home.place).unwrap();
    let ids: Vec<&str> = found.iter().map(|conversation| conversation.id.as_str()).collect();
    assert_eq!(ids, [ID, other]);
    assert!(found.iter().all(|conversation| conversation.cwd == home.place.cwd));
}

#[test]
fn long_transcript_is_read_only_at_its_beginning_and_end() {
    let line = TOOL.lines().last().unwrap();
    let long = format!("{TOOL}{}{}", format!("{line}\n").repeat(100_000), first(TOOL, 6));
    let home = home_with(&long);
    Gemini.conversation(&home.disk, &home.place, &id()).unwrap();
    assert!(home.disk.bytes_read() < 300_000, "{}", home.disk.bytes_read());
}
