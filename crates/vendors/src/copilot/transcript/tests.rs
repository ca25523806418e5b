use super::*;
use crate::testing::Home;

const ID: &str = "21111111-2222-4333-8444-555555555555";
const PERMISSION: &str = include_str!("../fixtures/permission.jsonl");
const FAILED: &str = include_str!("../fixtures/failed.jsonl");

fn at(id: &str) -> String {
    format!("session-state/{id}/events.jsonl")
}

fn found(home: &Home, text: impl AsRef<[u8]>) -> Option<Conversation> {
    let path = home.write(&at(ID), text);
    conversation_at(&home.disk, &path, &VendorSessionId::new(ID)).unwrap()
}

/// Returns the lines of a recording before the first line of this type.
fn until(text: &str, kind: &str) -> String {
    let kind = format!(r#"{{"type":"{kind}""#);
    text.lines()
        .take_while(|line| !line.starts_with(&kind))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn recorded_conversation_yields_folder_messages_and_turn_state() {
    let found = found(&Home::new(), PERMISSION).unwrap();
    assert_eq!(found.cwd, Path::new("/code/a"));
    assert_eq!(found.first_message.as_deref(), Some("go [[slow: 6]]"));
    assert!(!found.turn_open, "the turn was interrupted");
    assert_eq!(found.last_answer.as_deref(), Some("turns=2 answer"));
}

#[test]
fn turn_is_open_until_an_answer_without_tool_calls_or_a_failure() {
    let home = Home::new();
    let open = |text: &str| found(&home, text).unwrap().turn_open;
    assert!(open(&until(PERMISSION, "assistant.message")), "nothing was answered");
    assert!(open(&until(PERMISSION, "permission.requested")), "a tool was called");
    assert!(open(&until(PERMISSION, "tool.execution_complete")));
    assert!(!open(&until(PERMISSION, "assistant.turn_end")));
    assert!(!open(FAILED));
}

#[test]
fn truncated_last_line_is_ignored_and_a_file_without_records_is_no_conversation() {
    let home = Home::new();
    let torn = &PERMISSION[..PERMISSION.len() - 40];
    assert!(!found(&home, torn).unwrap().turn_open);
    assert_eq!(found(&home, ""), None);
    assert_eq!(found(&home, "garbage\n"), None);
}

#[test]
fn conversations_lists_only_those_of_the_working_folder() {
    let home = Home::new();
    home.write(&at(ID), PERMISSION);
    let other = "31111111-2222-4333-8444-555555555555";
    home.write(&at(other), PERMISSION.replace("/code/a", "/code/b"));
    home.write(&at("named"), PERMISSION);
    home.write("session-state/41111111-2222-4333-8444-555555555555/workspace.yaml", "");
    let found = Copilot.conversations(&home.disk, &home.place).unwrap();
    let ids: Vec<&str> = found.iter().map(|conversation| conversation.id.as_str()).collect();
    assert_eq!(ids, [ID]);
}

#[test]
fn kept_lists_the_conversations_of_all_folders_without_reading_them() {
    let home = Home::new();
    home.write(&at(ID), PERMISSION.replace("/code/a", "/code/b"));
    home.write(&at("named"), PERMISSION);
    home.write("session-state/41111111-2222-4333-8444-555555555555/workspace.yaml", "");
    let kept = Copilot.list(&home.disk, home.folder.path()).unwrap();
    let ids: Vec<&str> = kept.iter().map(|conversation| conversation.id.as_str()).collect();
    assert_eq!((ids, home.disk.bytes_read()), (vec![ID], 0), "only names and times");
    let begun = Copilot.beginning(&home.disk, &kept[0]).unwrap().unwrap();
    assert_eq!(begun.cwd, Path::new("/code/b"));
    assert_eq!(begun.first_message.as_deref(), Some("go [[slow: 6]]"));
    assert!(begun.began_at > kept[0].modified, "the time comes from the transcript");
    home.write(&at(ID), until(PERMISSION, "user.message"));
    assert_eq!(Copilot.beginning(&home.disk, &kept[0]).unwrap(), None, "there is no message");
}

#[test]
fn messages_since_returns_messages_after_the_offset_with_their_pasted_texts() {
    let home = Home::new();
    let path = home.write(&at(ID), PERMISSION);
    let messages_from = |offset| messages_since(&home.disk, &path, offset).unwrap();
    let all = ["go [[slow: 6]]", "do [[tool: touch made.txt]]", "do [[tool: touch made2.txt]]"];
    assert_eq!(messages_from(0), all);
    let offset = PERMISSION.len() as u64;
    assert!(messages_from(offset).is_empty());
    let pasted = home.write(&format!("session-state/{ID}/files/paste-1.txt"), "long\ntext\n");
    let other = home.write("secret.txt", "not theirs");
    let line = |file: &Path, more: &str| {
        let content =
            format!(r#"<pasted_content file="{}" size="1 KB" lines="2" />"#, file.display());
        let data = serde_json::json!({"content": content, "source": more});
        serde_json::json!({"type": "user.message", "data": data}).to_string() + "\n"
    };
    let text = line(&pasted, "user") + &line(&other, "user") + &line(&pasted, "skill-x");
    home.write(&at(ID), PERMISSION.to_owned() + &text);
    let [first, second] = messages_from(offset).try_into().unwrap();
    assert_eq!(first, "long\ntext");
    assert!(second.starts_with("<pasted_content"), "{second}");
}
