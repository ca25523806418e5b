use rusqlite::Connection;

use super::*;
use crate::testing::Home;

const RECORDED: &str = include_str!("../fixtures/recorded.sql");
const ANSWERED: &str = "019a0000-0000-7000-8000-000000000001";
const REFUSED: &str = "019a0000-0000-7000-8000-000000000004";

fn home() -> (Home, Connection) {
    let home = Home::new();
    let path = home.write("agents/main/agent/openclaw-agent.sqlite", "");
    let writer = Connection::open(path).unwrap();
    writer.execute_batch(RECORDED).unwrap();
    (home, writer)
}

fn conversation(home: &Home, id: &str) -> Option<Conversation> {
    OpenClaw.conversation(&home.disk, &home.place, &VendorSessionId::new(id)).unwrap()
}

#[test]
fn recorded_conversations_are_read_from_their_rows() {
    let (home, _writer) = home();
    let answered = conversation(&home, ANSWERED).unwrap();
    assert_eq!(answered.first_message.as_deref(), Some("hello one"));
    assert_eq!(answered.last_answer.as_deref(), Some("answer 3"));
    assert_eq!(answered.cwd, Path::new("/home/u/workspace"));
    assert!(!answered.turn_open);
    let failed = conversation(&home, REFUSED).unwrap();
    assert_eq!((failed.turn_open, failed.last_answer), (false, None));
}

#[test]
fn turn_without_an_answer_is_open() {
    let (home, writer) = home();
    writer.execute("DELETE FROM transcript_events WHERE seq >= 8", []).unwrap();
    let answered = conversation(&home, ANSWERED).unwrap();
    assert!(answered.turn_open);
    assert_eq!(answered.last_answer.as_deref(), Some("answer 2"));
}

#[test]
fn conversation_is_none_if_it_is_unknown_or_has_no_message() {
    let (home, writer) = home();
    assert_eq!(conversation(&home, "019a0000-0000-7000-8000-00000000000f"), None);
    writer.execute("DELETE FROM transcript_events WHERE seq >= 4", []).unwrap();
    // The conversation exists and has no message.
    assert_eq!(conversation(&home, ANSWERED), None);
    assert_eq!(conversation(&Home::new(), ANSWERED), None);
}

#[test]
fn database_with_an_unknown_schema_is_an_error() {
    let (home, writer) = home();
    writer.execute_batch("DROP TABLE transcript_events").unwrap();
    let id = VendorSessionId::new(ANSWERED);
    assert!(OpenClaw.conversation(&home.disk, &home.place, &id).is_err());
}

#[test]
fn user_messages_since_returns_the_messages_from_the_given_row_on() {
    let (home, _writer) = home();
    let id = VendorSessionId::new(ANSWERED);
    let messages_since =
        |at| OpenClaw.user_messages_since(&home.disk, &home.place, &id, at).unwrap();
    assert_eq!(messages_since(0), ["hello one", "hello two"]);
    assert_eq!(messages_since(5), ["hello two"]);
    assert_eq!(OpenClaw.length(&home.disk, &home.place, &id), Some(10));
    assert_eq!(messages_since(10), [""; 0]);
    let transcript = OpenClaw.transcript(&home.disk, &home.place, &id);
    assert!(transcript.ends_with(id.as_str()) && transcript.parent().unwrap().is_file());
}
