use super::*;
use crate::testing::Home;

/// A prepared transcript with five turns. The first turn was killed, the second and the fourth
/// succeeded, the third had a rejected API key, and the fifth failed three times.
const RECORDED: &str = include_str!("../fixtures/recorded.jsonl");
const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";

fn write(home: &Home, text: &str) -> PathBuf {
    home.write(&format!("sessions/--code-a--/2026_{ID}.jsonl"), text)
}

fn read_written(text: &str) -> Option<Conversation> {
    let home = Home::new();
    conversation_at(&home.disk, &write(&home, text), &VendorSessionId::new(ID)).unwrap()
}

/// Returns the first `count` lines of the recorded transcript.
fn lines(count: usize) -> String {
    RECORDED.split_inclusive('\n').take(count).collect()
}

#[test]
fn conversation_is_read_from_both_ends() {
    let found = read_written(RECORDED).unwrap();
    assert_eq!(found.id.as_str(), ID);
    assert_eq!(found.cwd, Path::new("/code/a"));
    assert_eq!(found.began_at.to_string(), "2026-11-16T00:00:00Z");
    assert_eq!(found.first_message.as_deref(), Some("first HANG"));
    assert_eq!(found.last_answer.as_deref(), Some("turns=4 last=<<hello SLOW>>"));
    assert!(!found.turn_open, "a failed turn has ended");
}

#[test]
fn prepared_transcript_without_messages_is_none_and_its_id_is_free() {
    let home = Home::new();
    let id = VendorSessionId::new(ID);
    for count in [1, 3, 5] {
        let path = write(&home, &lines(count));
        assert_eq!(conversation_at(&home.disk, &path, &id).unwrap(), None, "{count}");
        assert!(is_free_at(&home.disk, &path, &id), "{count}");
    }
    let path = write(&home, &lines(6));
    assert!(!is_free_at(&home.disk, &path, &id));
    assert!(!is_free_at(&home.disk, &path, &VendorSessionId::new("another")));
    assert!(is_free_at(&home.disk, &home.folder.path().join("absent"), &id));
}

#[test]
fn turn_is_open_until_it_is_answered_or_has_failed() {
    let table = [(6, true), (7, true), (8, false), (9, true), (10, false), (11, true)];
    for (count, open) in table {
        assert_eq!(read_written(&lines(count)).unwrap().turn_open, open, "{count}");
    }
    let tool = |reason: &str| {
        let call = r#"{"type":"message","id":"1","message":{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"bash","arguments":{}}],"stopReason":"REASON"}}"#;
        format!("{}{}\n", lines(9), call.replace("REASON", reason))
    };
    assert!(read_written(&tool("toolUse")).unwrap().turn_open);
    assert!(!read_written(&tool("aborted")).unwrap().turn_open);
    let result = r#"{"type":"message","id":"2","message":{"role":"toolResult","toolCallId":"t","content":[{"type":"text","text":"x"}]}}"#;
    assert!(read_written(&format!("{}{result}\n", tool("toolUse"))).unwrap().turn_open);
    let truncated = format!("{}{{\"type\":\"mess", lines(8));
    assert!(!read_written(&truncated).unwrap().turn_open);
    let shell = r#"{"type":"message","id":"3","message":{"role":"bashExecution","command":"ls"}}"#;
    assert!(!read_written(&format!("{}{shell}\n", lines(8))).unwrap().turn_open);
}

#[test]
fn user_messages_since_returns_the_messages_after_the_offset() {
    let home = Home::new();
    let path = write(&home, RECORDED);
    let messages_after = |offset: usize| messages_since(&home.disk, &path, offset as u64).unwrap();
    let all = ["first HANG", "second", "third STATUS401", "hello SLOW", "now STATUS500"];
    assert_eq!(messages_after(0), all);
    assert_eq!(messages_after(lines(9).len()), all[3..]);
}

#[test]
fn damaged_header_is_an_error_and_a_missing_header_is_no_conversation() {
    let home = Home::new();
    let id = VendorSessionId::new(ID);
    let path = write(&home, &RECORDED[1..]);
    let error = conversation_at(&home.disk, &path, &id).unwrap_err();
    assert!(error.message.contains("is damaged"), "{error:?}");
    assert!(!is_free_at(&home.disk, &path, &id));
    let without_header = &RECORDED[lines(6).len()..];
    assert_eq!(read_written(without_header), None);
    assert_eq!(conversation_at(&home.disk, &home.folder.path().join("no"), &id).unwrap(), None);
}

#[test]
fn conversations_of_other_folders_are_not_listed_and_few_bytes_are_read() {
    let home = Home::new();
    write(&home, RECORDED);
    let other = "01a1e1fd-1e0a-7538-9b35-d40b3e394bc5";
    let elsewhere = RECORDED.replace("/code/a", "/code-a").replace(ID, other);
    home.write(&format!("sessions/--code-a--/2027_{other}.jsonl"), elsewhere);
    home.write("sessions/--code-a--/notes.jsonl", RECORDED);
    let found = Pi.conversations(&home.disk, &home.place).unwrap();
    assert_eq!(found.iter().map(|conversation| conversation.id.as_str()).collect::<Vec<_>>(), [ID]);
    let kept = Pi.list(&home.disk, home.folder.path()).unwrap();
    assert_eq!(kept.len(), 2, "{kept:?}");
    let own = kept.iter().find(|conversation| conversation.id.as_str() == ID).unwrap();
    let beginning = Pi.beginning(&home.disk, own).unwrap().unwrap();
    assert_eq!(
        (beginning.cwd.as_path(), beginning.first_message.as_deref()),
        (Path::new("/code/a"), Some("first HANG"))
    );
    let middle = "{\"type\":\"custom\"}\n".repeat(600_000);
    let long = format!("{}{middle}{}", lines(8), &RECORDED[lines(8).len()..]);
    let home = Home::new();
    let path = write(&home, &long);
    conversation_at(&home.disk, &path, &VendorSessionId::new(ID)).unwrap().unwrap();
    assert!(home.disk.bytes_read() < 500_000, "{}", home.disk.bytes_read());
}
