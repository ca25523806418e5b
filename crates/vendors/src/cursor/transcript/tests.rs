//! The transcript is written by hand, in the form that others have published, because Cursor's
//! program was not available.

use super::*;
use crate::testing::Home;

const ID: &str = "32143814-2a0b-4c11-9d55-0b7c5a1f6e01";
const TRANSCRIPT: &str = include_str!("../fixtures/transcript.jsonl");
const META: &str = r#"{"schemaVersion":1,"createdAtMs":1790000000000,"hasConversation":true,"updatedAtMs":1790000009000,"cwd":"/code/a"}"#;

fn home(transcript: &str) -> Home {
    let home = Home::new();
    write_transcript(&home, transcript);
    write_chat(&home, META);
    home
}

fn write_transcript(home: &Home, transcript: &str) {
    home.write(&format!("projects/code-a/agent-transcripts/{ID}/{ID}.jsonl"), transcript);
}

fn write_chat(home: &Home, meta: &str) {
    home.write(&format!("chats/5d41402a/{ID}/store.db"), "");
    home.write(&format!("chats/5d41402a/{ID}/meta.json"), meta);
}

fn id() -> VendorSessionId {
    VendorSessionId::new(ID)
}

fn found(home: &Home) -> Option<Conversation> {
    CursorVendor.conversation(&home.disk, &home.place, &id()).unwrap()
}

#[test]
fn conversation_is_read_from_its_transcript_and_its_metadata() {
    let home = home(TRANSCRIPT);
    let found = found(&home).unwrap();
    assert_eq!(found.first_message.as_deref(), Some("say blue"));
    assert_eq!(found.last_answer.as_deref(), Some("blue"));
    assert_eq!(found.began_at.as_millisecond(), 1_790_000_000_000);
    assert!(!found.turn_open);
    assert_eq!(CursorVendor.conversations(&home.disk, &home.place).unwrap(), [found]);
}

#[test]
fn turn_is_open_until_an_answer_without_tool_calls() {
    let lines: Vec<&str> = TRANSCRIPT.lines().collect();
    for (kept, wanted) in [(1, true), (2, true), (3, false), (4, false)] {
        let text = format!("{}\n", lines[..kept].join("\n"));
        assert_eq!(found(&home(&text)).unwrap().turn_open, wanted, "{kept}");
    }
    let torn = format!("{TRANSCRIPT}{{\"role\":\"us");
    assert!(!found(&home(&torn)).unwrap().turn_open);
}

#[test]
fn transcript_without_a_database_in_the_folder_is_an_error() {
    let home = Home::new();
    assert_eq!(found(&home), None);
    write_transcript(&home, TRANSCRIPT);
    let error = CursorVendor.conversation(&home.disk, &home.place, &id()).unwrap_err();
    assert!(error.to_string().contains("has no database"), "{error}");
    assert!(ensure_database(&home.disk, &home.place, &id()).is_err());
    // A conversation with the same id in another folder is a different one.
    write_chat(&home, &META.replace("/code/a", "/code/b"));
    assert!(ensure_database(&home.disk, &home.place, &id()).is_err());
    write_chat(&home, META);
    assert!(ensure_database(&home.disk, &home.place, &id()).is_ok());
}

#[test]
fn database_without_a_transcript_is_a_conversation_unless_it_is_blank() {
    let home = Home::new();
    write_chat(&home, META);
    assert_eq!(found(&home).unwrap().first_message, None);
    assert!(
        messages_since(&home.disk, &paths::transcript(&home.disk, &home.place, ID), 0).is_err()
    );
    write_chat(&home, r#"{"hasConversation":false,"cwd":"/code/a"}"#);
    assert_eq!(found(&home), None);
}

#[test]
fn messages_since_returns_messages_without_cursors_tags() {
    let home = home(TRANSCRIPT);
    let path = paths::transcript(&home.disk, &home.place, ID);
    assert_eq!(messages_since(&home.disk, &path, 0).unwrap(), ["say blue"]);
    let end = TRANSCRIPT.len() as u64;
    assert_eq!(messages_since(&home.disk, &path, end).unwrap(), [""; 0]);
}

#[test]
fn kept_conversations_have_a_beginning_only_with_their_database() {
    let home = home(TRANSCRIPT);
    let all = CursorVendor.list(&home.disk, &home.place.config_dir).unwrap();
    assert_eq!(all.iter().map(|kept| &kept.id).collect::<Vec<_>>(), [&id()]);
    let begun = CursorVendor.beginning(&home.disk, &all[0]).unwrap().unwrap();
    assert_eq!(
        (begun.cwd.to_str(), begun.first_message.as_deref()),
        (Some("/code/a"), Some("say blue"))
    );
    std::fs::remove_dir_all(home.folder.path().join("chats")).unwrap();
    assert_eq!(CursorVendor.beginning(&home.disk, &all[0]).unwrap(), None);
    assert_eq!(CursorVendor.conversations(&home.disk, &home.place).unwrap(), []);
}
