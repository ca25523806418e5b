use super::*;
use crate::testing::Home;

const PREPARED: &str = include_str!("../fixtures/prepared-two-turns.jsonl");
const TOOL: &str = include_str!("../fixtures/paginated-tool.jsonl");
const FAILED: &str = include_str!("../fixtures/paginated-failed.jsonl");
const FORK: &str = include_str!("../fixtures/fork.jsonl");

fn id_in(text: &str) -> VendorSessionId {
    let Some(header) = parse_header(text.as_bytes()) else { panic!("no header") };
    VendorSessionId::new(header.id)
}

fn write(home: &Home, text: &str) -> std::path::PathBuf {
    let path = paths::prepared(Path::new(""), id_in(text).as_str());
    home.write(path.to_str().unwrap(), text)
}

fn look(text: &str) -> Option<Conversation> {
    let home = Home::new();
    conversation_at(&home.disk, &write(&home, text), &id_in(text)).unwrap()
}

fn messages_from(text: &str, offset: u64) -> Vec<String> {
    let home = Home::new();
    messages_since(&home.disk, &write(&home, text), offset).unwrap()
}

/// Returns the lines up to and including the first line that contains this word.
fn up_to(text: &str, word: &str) -> String {
    let end = text.find(word).unwrap();
    let line_end = text[end..].find('\n').unwrap();
    text[..=end + line_end].to_owned()
}

#[test]
fn rollout_without_ordinals_is_read() {
    let found = look(PREPARED).unwrap();
    assert_eq!(found.id.as_str(), "01a1e1b4-0000-7600-96ed-000000000001");
    assert_eq!(found.cwd, Path::new("/code/a"));
    assert_eq!(found.first_message.as_deref(), Some("--help is not a flag"));
    assert_eq!(found.last_answer.as_deref(), Some("turns=2 last=<<second>>"));
    assert!(!found.turn_open);
    assert_eq!(messages_from(PREPARED, 0), ["--help is not a flag", "second"]);
}

#[test]
fn rollout_with_ordinals_is_read() {
    let found = look(TOOL).unwrap();
    assert_eq!(found.first_message.as_deref(), Some("[[tool: env | sort]]"));
    assert_eq!(
        messages_from(TOOL, 0),
        ["[[tool: env | sort]]"],
        "once, without texts that Codex added"
    );
    assert!(!found.turn_open);
    let failed = look(FAILED).unwrap();
    assert!(!failed.turn_open, "it failed, and is over");
    assert_eq!(failed.last_answer, None);
    let fork = look(FORK).unwrap();
    assert_eq!(fork.first_message.as_deref(), Some("in fork"));
}

#[test]
fn rollout_without_a_message_is_no_conversation_and_its_id_is_free() {
    let home = Home::new();
    let id = id_in(PREPARED);
    let absent = paths::prepared(home.folder.path(), id.as_str());
    assert!(is_free_at(&home.disk, &absent, &id));
    for text in [up_to(PREPARED, "session_meta"), up_to(PREPARED, "<environment_context>")] {
        assert_eq!(look(&text), None);
        assert!(is_free_at(&home.disk, &write(&home, &text), &id));
        let other = VendorSessionId::new("01a1e1b4-0000-7600-96ed-0000000000ff");
        assert!(!is_free_at(&home.disk, &absent, &other), "another conversation has this file");
    }
    // A message is in the model's history before Codex records that it has accepted it.
    let up_to_first_message = up_to(PREPARED, "\"--help is not a flag\"");
    assert_eq!(
        look(&up_to_first_message).unwrap().first_message.as_deref(),
        Some("--help is not a flag")
    );
    assert!(!is_free_at(&home.disk, &write(&home, &up_to_first_message), &id));
    assert!(!is_free_at(&home.disk, &home.write("x.jsonl", "no rollout"), &id));
    let fork = up_to(FORK, "session_meta");
    assert!(look(&fork).is_some(), "its messages are in another rollout");
    assert!(!is_free_at(&home.disk, &write(&home, &fork), &id_in(FORK)));
}

#[test]
fn a_turn_without_an_end_is_open() {
    let cut = up_to(TOOL, "\"function_call\"");
    assert!(look(&cut).unwrap().turn_open);
    let torn = &TOOL[..TOOL.rfind("task_complete").unwrap()];
    assert!(look(torn).unwrap().turn_open, "the line that ends it is torn");
    let aborted = format!(
        "{cut}{}\n",
        r#"{"timestamp":"2026-11-16T00:25:11Z","type":"event_msg","payload":{"type":"turn_aborted","turn_id":"x","reason":"interrupted"}}"#
    );
    assert!(!look(&aborted).unwrap().turn_open);
}

#[test]
fn invalid_lines_are_skipped() {
    let at = PREPARED.rfind("{\"timestamp\":\"2026-11-16T00:15:06.820Z\"").unwrap();
    let mended = format!("{}{}\n{}", &PREPARED[..at], "{\"timestamp\":\"2026-11", &PREPARED[at..]);
    assert_eq!(messages_from(&mended, 0), ["--help is not a flag", "second"]);
    assert_eq!(look(&mended).unwrap().last_answer.as_deref(), Some("turns=2 last=<<second>>"));
}

#[test]
fn messages_since_returns_the_messages_after_a_byte_offset() {
    let end = PREPARED.find("task_complete").unwrap();
    let next = end + PREPARED[end..].find('\n').unwrap() + 1;
    assert_eq!(messages_from(PREPARED, next as u64), ["second"]);
    assert_eq!(messages_from(PREPARED, PREPARED.len() as u64), Vec::<String>::new());
    let home = Home::new();
    let absent = home.folder.path().join("absent.jsonl");
    assert_eq!(messages_since(&home.disk, &absent, 0).unwrap(), Vec::<String>::new());
}

#[test]
fn long_rollout_is_read_only_at_its_beginning_and_end() {
    let filler = r#"{"timestamp":"2026-11-16T00:15:03Z","type":"world_state","payload":{}}"#;
    let end = PREPARED.find("task_complete").unwrap();
    let middle = end + PREPARED[end..].find('\n').unwrap() + 1;
    let text =
        [&PREPARED[..middle], &format!("{filler}\n").repeat(100_000), &PREPARED[middle..]].concat();
    let home = Home::new();
    let path = write(&home, &text);
    let found = conversation_at(&home.disk, &path, &id_in(&text)).unwrap().unwrap();
    assert_eq!(found.last_answer.as_deref(), Some("turns=2 last=<<second>>"));
    assert!(
        home.disk.bytes_read() <= 4 * FIRST_READ_BYTES,
        "{} of {}",
        home.disk.bytes_read(),
        text.len()
    );
}

#[test]
fn conversations_lists_those_of_people_in_the_folder() {
    let home = Home::new();
    write(&home, PREPARED);
    write(&home, TOOL);
    write(&home, &FORK.replace("\"thread_source\":\"user\"", "\"thread_source\":\"subagent\""));
    write(&home, &FAILED.replace("/code/a", "/code/b"));
    let found = Codex.conversations(&home.disk, &home.place).unwrap();
    let ids: Vec<&str> = found.iter().map(|conversation| conversation.id.as_str()).collect();
    assert_eq!(ids, [id_in(PREPARED).as_str(), id_in(TOOL).as_str()]);
}
