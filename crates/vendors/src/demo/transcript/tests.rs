use super::*;
use crate::testing::Home;

const HEADER: &str =
    r#"{"type":"session","id":"x","cwd":"/code/a","at":"2026-01-01T00:00:00Z","version":"1"}"#;
const END: &str = r#"{"type":"turn_end","at":"2026-01-01T00:00:02Z"}"#;

fn line(kind: &str, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(r#"{{"type":"{kind}","text":{text},"at":"2026-01-01T00:00:01Z"}}"#)
}

fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn write(home: &Home, id: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    home.write(&format!("conversations/-code-a/{id}.jsonl"), bytes)
}

fn read_written(home: &Home, bytes: impl AsRef<[u8]>) -> Option<Conversation> {
    let path = write(home, "an-id", bytes);
    conversation_at(&home.disk, &path, &VendorSessionId::new("an-id")).unwrap()
}

#[test]
fn turn_with_an_end_is_not_open_and_the_first_message_is_read() {
    let home = Home::new();
    let text = lines(&[HEADER, &line("user", "first"), &line("assistant", "hi"), END]);
    let found = read_written(&home, text).unwrap();
    assert_eq!(found.id.as_str(), "an-id");
    assert_eq!(found.cwd, Path::new("/code/a"));
    assert_eq!(found.began_at.to_string(), "2026-01-01T00:00:00Z");
    assert_eq!(found.first_message.as_deref(), Some("first"));
    assert!(!found.turn_open);
}

#[test]
fn a_turn_without_an_end_is_open() {
    let home = Home::new();
    for kind in ["user", "assistant", "tool_call", "tool_result"] {
        let text = lines(&[HEADER, &line("user", "a"), END, &line(kind, "b")]);
        assert!(read_written(&home, text).unwrap().turn_open, "{kind}");
    }
}

#[test]
fn truncated_last_line_is_ignored() {
    let home = Home::new();
    let complete = lines(&[HEADER, &line("user", "a"), &line("assistant", "b"), END]);
    let with_truncated_message = format!("{complete}{}", &line("user", "lost")[..20]);
    assert!(!read_written(&home, with_truncated_message).unwrap().turn_open);
    let with_truncated_end = &complete[..complete.len() - 10];
    assert!(read_written(&home, with_truncated_end).unwrap().turn_open);
}

#[test]
fn invalid_lines_and_unknown_types_are_skipped() {
    let home = Home::new();
    let mut bytes = lines(&[HEADER]).into_bytes();
    bytes.extend(b"\xff\xfe{{{\n{\"type\":\"mood\",\"text\":\"fine\"}\n");
    bytes.extend(b"{\"type\":\"user\",\"text\":\"caf\xe9\",\"at\":\"2026-01-01T00:00:01Z\"}\n");
    bytes.extend(lines(&[END]).bytes());
    bytes.extend(b"{\"type\":\"mood\",\"text\":\"\xff\"}\n\n");
    let found = read_written(&home, bytes).unwrap();
    assert_eq!(found.first_message.as_deref(), Some("caf\u{fffd}"));
    assert!(!found.turn_open);
}

#[test]
fn missing_file_or_header_is_none_and_a_lone_header_is_a_conversation() {
    let home = Home::new();
    let absent = home.place.config_dir.join("none.jsonl");
    let id = VendorSessionId::new("none");
    assert_eq!(conversation_at(&home.disk, &absent, &id).unwrap(), None);
    assert_eq!(read_written(&home, ""), None);
    assert_eq!(read_written(&home, &HEADER[..30]), None);
    let without_messages = read_written(&home, lines(&[HEADER])).unwrap();
    assert_eq!((without_messages.first_message, without_messages.turn_open), (None, false));
}

#[test]
fn reads_few_bytes_of_a_long_transcript() {
    let home = Home::new();
    let mut text = lines(&[HEADER, &line("user", "first")]);
    for _ in 0..200 {
        text.push_str(&lines(&[&line("tool_result", &"x".repeat(50_000)), END]));
    }
    let found = read_written(&home, &text).unwrap();
    assert_eq!(found.first_message.as_deref(), Some("first"));
    assert!(!found.turn_open);
    assert!(
        home.disk.bytes_read() <= 3 * SHORT_READ_BYTES,
        "{} of {}",
        home.disk.bytes_read(),
        text.len()
    );
}

#[test]
fn last_line_above_the_read_limit_is_an_open_turn_and_is_not_read() {
    let home = Home::new();
    let huge = line("tool_result", &"x".repeat(20_000_000));
    let text = lines(&[HEADER, &line("user", "first"), END, &huge]);
    assert!(read_written(&home, &text).unwrap().turn_open);
    assert!(read_written(&home, &text[..text.len() - 5]).unwrap().turn_open);
    assert!(home.disk.bytes_read() < 3 * READ_LIMIT_BYTES, "{}", home.disk.bytes_read());
}

#[test]
fn first_message_above_the_read_limit_is_truncated() {
    let home = Home::new();
    for unit in ["\u{1f642}", "\u{1}", "a\"b\\"] {
        let text = unit.repeat(2 * READ_LIMIT_BYTES / unit.len());
        let found = read_written(&home, lines(&[HEADER, &line("user", &text)])).unwrap();
        let first = found.first_message.unwrap();
        assert!(text.starts_with(&first) && first.len() > 1000, "{unit:?}: {}", first.len());
        assert!(found.turn_open);
    }
}

#[test]
fn conversations_of_the_folder_are_sorted_by_start_time() {
    let home = Home::new();
    let header_at = |at: &str| HEADER.replace("2026-01-01T00:00:00Z", at);
    write(&home, "newer", lines(&[&header_at("2026-02-01T00:00:00Z"), &line("user", "n"), END]));
    write(&home, "older", lines(&[HEADER, &line("user", "o")]));
    write(&home, "foreign", lines(&[&HEADER.replace("/code/a", "/code.a"), &line("user", "f")]));
    write(&home, "broken", "{");
    home.write("conversations/-code-a/notes.txt", lines(&[HEADER]));
    home.write("conversations/-code-b/other.jsonl", lines(&[HEADER]));
    let found = Demo.conversations(&home.disk, &home.place).unwrap();
    let ids: Vec<&str> = found.iter().map(|found| found.id.as_str()).collect();
    assert_eq!(ids, ["older", "newer"]);
    assert_eq!([found[0].turn_open, found[1].turn_open], [true, false]);
}
