use std::path::PathBuf;

use rusqlite::{Connection, params};
use serde_json::json;

use super::*;
use crate::openclaw::OpenClaw;
use crate::testing::Home;
use crate::testing::turns::read_turns;

const RECORDED: &str = include_str!("../fixtures/recorded.sql");
const ANSWERED: &str = "019a0000-0000-7000-8000-000000000001";
const REFUSED: &str = "019a0000-0000-7000-8000-000000000004";

struct RecordedEvents {
    home: Home,
    writer: Connection,
}

impl RecordedEvents {
    fn new() -> Self {
        let home = Home::new();
        let writer = Connection::open(home.write("claw.sqlite", "")).unwrap();
        writer.pragma_update(None, "synchronous", "off").unwrap();
        writer.execute_batch(RECORDED).unwrap();
        Self { home, writer }
    }

    /// Inserts a row into the answered conversation.
    fn add(&self, seq: i64, event: &serde_json::Value) {
        let row = "INSERT INTO transcript_events (session_id, seq, event_json, created_at)
            VALUES (?1, ?2, ?3, 0)";
        self.writer.execute(row, params![ANSWERED, seq, event.to_string()]).unwrap();
    }

    fn transcript(&self, id: &str) -> PathBuf {
        self.home.folder.path().join("claw.sqlite").join(id)
    }

    /// Reads a conversation in both directions, and expects the same turns.
    fn turns(&self, id: &str) -> Vec<Turn> {
        read_turns(&OpenClaw, &self.transcript(id))
    }

    fn texts(&self) -> Vec<String> {
        self.turns(ANSWERED).into_iter().map(|turn| turn.text).collect()
    }
}

/// The id of the last row of the conversation.
const TIP: &str = "a40c7faa-05bf-40df-b118-0483635f5f88";

fn message(id: &str, parent: &str, message: &serde_json::Value) -> serde_json::Value {
    json!({"type": "message", "id": id, "parentId": parent, "message": message})
}

#[test]
fn recorded_conversation_is_read_as_turns() {
    let recorded = RecordedEvents::new();
    let turns = recorded.turns(ANSWERED);
    let roles_and_texts: Vec<_> =
        turns.iter().map(|turn| (turn.role, turn.text.as_str())).collect();
    let (user, assistant) = (Role::User, Role::Assistant);
    let wanted = [
        (user, "hello one"),
        (assistant, "answer 2"),
        (user, "hello two"),
        (assistant, "answer 3"),
    ];
    assert_eq!(roles_and_texts, wanted);
    assert_eq!(turns[0].at, "2026-11-16T04:26:01.925Z".parse().ok());
    assert_eq!(turns[1].model.as_deref(), Some("scripted/scripted-1"));
    assert_eq!(turns[1].usage, Some(Usage { input: 11, output: 7, ..Usage::default() }));
    let refused = recorded.turns(REFUSED);
    assert_eq!((refused.len(), refused[0].text.as_str()), (1, "fail401 please"));
    assert!(recorded.turns("unknown").is_empty());
    assert!(read_turns(&OpenClaw, Path::new("/nowhere/claw.sqlite/1")).is_empty());
}

#[test]
fn tool_calls_results_and_summaries_are_turns_and_thinking_is_not() {
    let recorded = RecordedEvents::new();
    let call = json!({"role": "assistant", "stopReason": "toolUse", "content": [
        {"type": "thinking", "thinking": "hm", "text": "hm"}, {"type": "text", "text": "I look"},
        {"type": "toolCall", "id": "call_1", "name": "exec", "arguments": {"command": "ls"}},
    ]});
    let result = json!({"role": "toolResult", "toolCallId": "call_1", "toolName": "exec",
        "isError": true, "content": [{"type": "text", "text": "no"}, {"type": "image"}]});
    recorded.add(20, &message("x1", TIP, &call));
    recorded.add(21, &message("x2", "x1", &result));
    recorded
        .add(22, &json!({"type": "compaction", "id": "x3", "parentId": "x2", "summary": "so far"}));
    let turns = recorded.turns(ANSWERED).split_off(4);
    let roles_and_texts: Vec<_> =
        turns.iter().map(|turn| (turn.role, turn.text.as_str())).collect();
    let wanted = [
        (Role::Assistant, "I look"),
        (Role::ToolCall, r#"{"command":"ls"}"#),
        (Role::ToolResult, "no"),
        (Role::Summary, "so far"),
    ];
    assert_eq!(roles_and_texts, wanted);
    let tool = |failed| Some(Tool { id: "call_1".to_owned(), name: "exec".to_owned(), failed });
    assert_eq!((turns[1].tool.clone(), turns[2].tool.clone()), (tool(false), tool(true)));
}

#[test]
fn abandoned_branch_is_omitted() {
    let recorded = RecordedEvents::new();
    let answer = "33212237-e91f-4cad-88c3-bc663d2f9d6f";
    recorded.add(20, &message("x1", answer, &json!({"role": "user", "content": "rather this"})));
    assert_eq!(recorded.texts(), ["hello one", "answer 2", "rather this"]);
}

#[test]
fn unreadable_rows_are_skipped_and_earlier_rows_are_read() {
    let recorded = RecordedEvents::new();
    let row = "UPDATE transcript_events SET event_json = ?1 WHERE session_id = ?2 AND seq = 7";
    for broken in [None, Some("{\"type\":\"mess"), Some("[]"), Some("{\"id\":1}")] {
        recorded.writer.execute(row, params![broken, ANSWERED]).unwrap();
        assert_eq!(recorded.texts(), ["hello one", "answer 2", "answer 3"], "{broken:?}");
    }
    recorded
        .writer
        .execute_batch("UPDATE transcript_events SET event_json = CAST(x'ff80' AS TEXT)")
        .unwrap();
    assert!(recorded.texts().is_empty());
}

#[test]
fn long_conversation_is_read_in_pages_until_the_caller_stops() {
    let recorded = RecordedEvents::new();
    let mut parent = TIP.to_owned();
    for seq in 20..120 {
        let id = format!("x{seq}");
        recorded.add(seq, &message(&id, &parent, &json!({"role": "user", "content": id})));
        parent = id;
    }
    assert_eq!(recorded.texts().len(), 104);
    let mut count = 0;
    read(&recorded.transcript(ANSWERED), ReadDirection::Back, &mut |_| {
        count += 1;
        if count == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!(count, 3);
}
