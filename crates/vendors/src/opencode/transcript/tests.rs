use std::fs;

use super::super::recorded::{FIRST_ID, OTHER_ID, RecordedDatabase};
use super::*;
use crate::testing::CountingFiles;

impl RecordedDatabase {
    fn conversation(&self, id: &str) -> Option<Conversation> {
        OpenCode
            .conversation(&CountingFiles::default(), &self.place(), &VendorSessionId::new(id))
            .unwrap()
    }
}

#[test]
fn recorded_conversations_are_read_and_listed() {
    let recorded = RecordedDatabase::new();
    let found = recorded.conversation(OTHER_ID).unwrap();
    assert_eq!(found.cwd, Path::new("/code/a"));
    assert_eq!(found.first_message.as_deref(), Some("in the new one"));
    assert_eq!(found.last_answer.as_deref(), Some("hmm turns=1 first=in the new one"));
    assert!(!found.turn_open);
    let failed = recorded.conversation(FIRST_ID).unwrap();
    assert_eq!(failed.first_message.as_deref(), Some("hello ALPHA"));
    assert_eq!((failed.turn_open, failed.last_answer), (false, None), "a failed turn has ended");
    assert_eq!(recorded.conversation("ses_unknown"), None);
    let listed = OpenCode.conversations(&CountingFiles::default(), &recorded.place()).unwrap();
    let ids: Vec<&str> = listed.iter().map(|conversation| conversation.id.as_str()).collect();
    assert_eq!(ids, [FIRST_ID, OTHER_ID]);
}

#[test]
fn turn_is_open_until_an_answer_is_complete_or_a_tool_call_is_refused() {
    let recorded = RecordedDatabase::new();
    let last = "id = (SELECT max(id) FROM message)";
    recorded.change(&format!(
        "UPDATE message SET data = json_remove(data, '$.time.completed', '$.finish') WHERE {last}"
    ));
    assert!(recorded.conversation(OTHER_ID).unwrap().turn_open, "killed while it answered");
    recorded.change(&format!("DELETE FROM message WHERE {last}"));
    assert!(recorded.conversation(OTHER_ID).unwrap().turn_open, "killed before it answered");
    let tool = "UPDATE message SET data = json_set(data, '$.finish', 'tool-calls', '$.error', NULL) \
                WHERE id = (SELECT max(id) FROM message WHERE session_id = '";
    recorded.change(&format!("{tool}{FIRST_ID}')"));
    assert!(recorded.conversation(FIRST_ID).unwrap().turn_open, "killed after a tool call");
    let part = r#"{"type": "tool", "state": {"status": "error", "error": "The user rejected permission to use this specific tool call."}}"#;
    recorded.change(&format!(
        "INSERT INTO part SELECT 'prt_refused', max(id), session_id, 0, 0, '{part}' FROM message \
         WHERE session_id = '{FIRST_ID}'"
    ));
    assert!(!recorded.conversation(FIRST_ID).unwrap().turn_open, "the user refused the tool call");
}

#[test]
fn conversation_without_text_is_none_and_its_id_is_free() {
    let recorded = RecordedDatabase::new();
    let is_free = |id: &str| {
        OpenCode.is_free(&CountingFiles::default(), &recorded.place(), &VendorSessionId::new(id))
    };
    assert!(!is_free(OTHER_ID) && is_free("ses_unknown"));
    // OpenCode writes the row of a message before the rows of its parts.
    recorded.change(&format!("DELETE FROM part WHERE session_id = '{OTHER_ID}'"));
    assert_eq!(recorded.conversation(OTHER_ID), None);
    assert!(is_free(OTHER_ID));
    recorded.change("ALTER TABLE message RENAME COLUMN data TO told");
    assert!(!is_free(FIRST_ID), "the database cannot be read");
}

#[test]
fn user_messages_since_returns_the_messages_after_the_given_count() {
    let recorded = RecordedDatabase::new();
    let (folder, id) = (recorded.folder.path(), VendorSessionId::new(FIRST_ID));
    let messages_since = |place: &Place, offset| {
        OpenCode.user_messages_since(&CountingFiles::default(), place, &id, offset).unwrap()
    };
    let place = recorded.place();
    let all = count_messages(folder, &id).unwrap().unwrap();
    let messages = messages_since(&place, 0);
    assert_eq!(messages.len(), 5, "{messages:?}");
    assert_eq!(messages[..2], ["hello ALPHA", "run it [[tool: echo hi]]"]);
    assert_eq!(messages_since(&place, 2), messages[1..]);
    assert!(messages_since(&place, all).is_empty());
    assert_eq!(count_messages(folder, &VendorSessionId::new("ses_unknown")).unwrap(), None);
    let nowhere = Place { config_dir: folder.join("nowhere"), ..place };
    assert_eq!(count_messages(&nowhere.config_dir, &id).unwrap(), None);
    assert!(messages_since(&nowhere, 0).is_empty());
}

#[test]
fn text_added_by_opencode_is_not_a_message_of_the_user() {
    let recorded = RecordedDatabase::new();
    recorded.change("UPDATE part SET data = json_set(data, '$.synthetic', json('true')) WHERE data LIKE '%hello ALPHA\"}'");
    let (place, id) = (recorded.place(), VendorSessionId::new(FIRST_ID));
    let messages = OpenCode.user_messages_since(&CountingFiles::default(), &place, &id, 0).unwrap();
    assert_eq!(messages.len(), 4, "{messages:?}");
}

#[test]
fn list_omits_conversations_of_subagents() {
    let recorded = RecordedDatabase::new();
    recorded
        .change(&format!("UPDATE session SET parent_id = '{FIRST_ID}' WHERE id = '{OTHER_ID}'"));
    let [only] = list_in(recorded.folder.path()).unwrap().try_into().unwrap();
    assert_eq!(only.id.as_str(), FIRST_ID);
    let beginning = beginning_of(&only).unwrap().unwrap();
    assert_eq!(beginning.first_message.as_deref(), Some("hello ALPHA"));
    assert_eq!(beginning.cwd, Path::new("/code/a"));
    assert!(list_in(&recorded.folder.path().join("nowhere")).unwrap().is_empty());
    assert!(fs::metadata(only.transcript).is_err(), "no file has this path");
}

#[test]
fn queries_for_a_long_conversation_use_an_index() {
    let recorded = RecordedDatabase::new();
    recorded.change(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
         INSERT INTO message SELECT 'msg_0' || i, '{OTHER_ID}', 1794799967726 + i, 0,
         '{{\"role\":\"assistant\",\"time\":{{\"completed\":1}}}}' FROM n"
    ));
    for query in [LAST_MESSAGE_QUERY, MESSAGES_QUERY, COUNT_QUERY] {
        let explain = format!("EXPLAIN QUERY PLAN {query}");
        let mut statement = recorded.writer.prepare(&explain).unwrap();
        let count = statement.parameter_count();
        let parameters = vec!["1"; count];
        let rows = statement
            .query_map(rusqlite::params_from_iter(parameters), |row| row.get::<_, String>(3));
        let plan = rows.unwrap().collect::<rusqlite::Result<Vec<_>>>().unwrap().join("; ");
        assert!(plan.contains("USING") && !plan.contains("TEMP B-TREE"), "{query}: {plan}");
    }
    assert!(!recorded.conversation(OTHER_ID).unwrap().turn_open);
}
