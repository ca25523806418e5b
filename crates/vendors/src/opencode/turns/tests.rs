use std::ops::ControlFlow;

use segue_core::model::VendorSessionId;

use super::super::OpenCode;
use super::super::export::export;
use super::super::recorded::{FIRST_ID, OTHER_ID, RecordedDatabase};
use super::*;
use crate::testing::CountingFiles;
use crate::testing::turns::{assert_damage_is_tolerated, read_turns};

fn roles_and_texts(turns: &[Turn]) -> Vec<(Role, &str)> {
    turns.iter().map(|turn| (turn.role, turn.text.as_str())).collect()
}

fn exported(recorded: &RecordedDatabase, id: &str) -> Vec<u8> {
    export(recorded.folder.path(), &VendorSessionId::new(id)).unwrap().unwrap()
}

/// SQL conditions for parts of the first conversation: its first message, the first answer, and a
/// tool call.
const QUESTION: &str = "id = 'prt_1e2696103001kjRTq67RT5mgL2'";
const ANSWER: &str = "id = 'prt_1e2698518001Np0VDNV9Y9naH0'";
const TOOL: &str = "id = 'prt_1e2699412001bWTpiIdX62OEr5'";

#[test]
fn database_and_document_give_the_same_turns() {
    let recorded = RecordedDatabase::new();
    let turns = recorded.turns(FIRST_ID);
    let input = r#"{"command":"echo hi","description":"x"}"#;
    assert_eq!(
        roles_and_texts(&turns),
        [
            (Role::User, "hello ALPHA"),
            (Role::Assistant, "hmm turns=1 first=hello ALPHA"),
            (Role::User, "run it [[tool: echo hi]]"),
            (Role::ToolCall, input),
            (Role::ToolResult, "hi\n"),
            (Role::Assistant, "hmm turns=2 first=hello ALPHA"),
            (Role::User, "busy [[sleep: 6]]"),
            (Role::Assistant, "hmm turns=3 first=hello ALPHA"),
            (Role::User, "x [[status: 429]]"),
            (Role::User, "x [[status: 401]]"),
        ]
    );
    let tool = Tool { id: "call_1".to_owned(), name: "bash".to_owned(), failed: false };
    assert_eq!((turns[3].tool.as_ref(), turns[4].tool.as_ref()), (Some(&tool), Some(&tool)));
    assert_eq!(turns[0].at.unwrap().as_millisecond(), 1_794_799_919_137);
    assert_eq!(turns[4].at.unwrap().as_millisecond(), 1_794_799_934_703);
    assert_eq!(turns[1].model.as_deref(), Some("fake/fake-1"));
    assert_eq!(turns[1].usage, None);
    for id in [FIRST_ID, OTHER_ID] {
        let document = recorded.write(exported(&recorded, id));
        assert_eq!(read_turns(&OpenCode, &document), recorded.turns(id));
    }
    assert!(recorded.turns("ses_unknown").is_empty());
    assert!(read_turns(&OpenCode, Path::new("/nowhere/opencode.db/ses_1")).is_empty());
}

#[test]
fn parts_added_by_opencode_and_failed_answers_are_no_turns() {
    let recorded = RecordedDatabase::new();
    let all = recorded.turns(FIRST_ID).len();
    for (change, fewer) in [
        (format!("json_set(data, '$.synthetic', json('true')) WHERE {QUESTION}"), 1),
        (format!("json_set(data, '$.ignored', json('true')) WHERE {QUESTION}"), 2),
        (format!("json_set(data, '$.text', '') WHERE {ANSWER}"), 3),
        (format!("json_set(data, '$.type', 'reasoning') WHERE {ANSWER}"), 3),
        (format!("json_set(data, '$.state.status', 'running') WHERE {TOOL}"), 4),
        (format!("json_set(data, '$.state.status', 'pending') WHERE {TOOL}"), 5),
        (format!("'{{\"type\":\"tool\",\"state\":[]}}' WHERE {TOOL}"), 4),
        (format!("'[\"type\"]' WHERE {TOOL}"), 5),
    ] {
        recorded.change(&format!("UPDATE part SET data = {change}"));
        // The first two changes concern the same turn.
        let fewer = if fewer > 1 { fewer - 1 } else { fewer };
        assert_eq!(recorded.turns(FIRST_ID).len(), all - fewer, "{change}");
    }
    let recorded = RecordedDatabase::new();
    let failed = "UPDATE message SET data = json_set(data, '$.error', json('{\"name\":\"NAME\"}')) \
                  WHERE id = 'msg_1e2696209001hf250DKKb1V5Dx'";
    recorded.change(&failed.replace("NAME", "MessageAbortedError"));
    assert_eq!(recorded.turns(FIRST_ID).len(), all);
    recorded.change(&failed.replace("NAME", "APIError"));
    assert_eq!(recorded.turns(FIRST_ID).len(), all - 1);
}

#[test]
fn failed_tool_call_has_its_error_or_partial_output_as_result() {
    let recorded = RecordedDatabase::new();
    let failed = "json_set(data, '$.state.status', 'error', '$.state.error', 'no such file'";
    recorded.change(&format!("UPDATE part SET data = {failed}) WHERE {TOOL}"));
    let result = recorded.turns(FIRST_ID).swap_remove(4);
    assert_eq!((result.text.as_str(), result.tool.unwrap().failed), ("no such file", true));
    let output = "'$.state.metadata', json('{\"interrupted\":true,\"output\":\"half\"}')";
    recorded.change(&format!("UPDATE part SET data = {failed}, {output}) WHERE {TOOL}"));
    assert_eq!(recorded.turns(FIRST_ID)[4].text, "half");
}

#[test]
fn complete_compaction_becomes_one_summary() {
    let recorded = RecordedDatabase::new();
    recorded.change(&format!(
        "UPDATE part SET data = '{{\"type\":\"compaction\",\"auto\":true}}' WHERE {QUESTION}"
    ));
    let summary = "UPDATE message SET data = json_set(data, '$.summary', json('true')) \
                   WHERE id = 'msg_1e2696209001hf250DKKb1V5Dx'";
    recorded.change(summary);
    let turns = recorded.turns(FIRST_ID);
    assert_eq!(roles_and_texts(&turns)[0], (Role::Summary, "hmm turns=1 first=hello ALPHA"));
    assert_eq!(turns.len(), 9);
    recorded.change(&summary.replace("'$.summary', json('true')", "'$.finish', NULL"));
    assert_eq!(recorded.turns(FIRST_ID).len(), 8, "the summary is incomplete");
}

#[test]
fn reverted_messages_and_parts_are_no_turns() {
    let recorded = RecordedDatabase::new();
    let revert_to = |revert: &str| {
        recorded.change(&format!("UPDATE session SET revert = '{revert}' WHERE id = '{FIRST_ID}'"));
        let turns = recorded.turns(FIRST_ID);
        let document = recorded.write(exported(&recorded, FIRST_ID));
        assert_eq!(read_turns(&OpenCode, &document), turns, "{revert}");
        turns
    };
    let all = revert_to("{}").len();
    assert_eq!(revert_to(r#"{"messageID":"msg_unknown"}"#).len(), all);
    let turns = revert_to(r#"{"messageID":"msg_1e269920f001R2z6TBK4EBFjLk"}"#);
    assert_eq!(turns.last().unwrap().text, "hmm turns=1 first=hello ALPHA");
    let tool = r#"{"messageID":"msg_1e2699251001nrkyPlUrQQ6qM7","partID":"prt_1e2699412001bWTpiIdX62OEr5"}"#;
    assert_eq!(revert_to(tool).last().unwrap().text, "run it [[tool: echo hi]]");
    let behind = r#"{"messageID":"msg_1e2699251001nrkyPlUrQQ6qM7","partID":"prt_1e2699cfb001BI7jPcUj4JjqUf"}"#;
    assert_eq!(revert_to(behind).last().unwrap().text, "hi\n");
}

#[test]
fn long_conversation_is_read_in_pages_until_the_caller_stops() {
    let recorded = RecordedDatabase::new();
    recorded.change(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
         INSERT INTO message SELECT printf('msg_%05d', i), '{OTHER_ID}', 1894799967726 + i / 40, 0,
         '{{\"role\":\"user\"}}' FROM n;
         INSERT INTO part SELECT 'prt_' || id, id, session_id, 0, 0,
         json_object('type', 'text', 'text', id) FROM message WHERE length(id) = 9"
    ));
    let turns = recorded.turns(OTHER_ID);
    assert_eq!((turns.len(), turns[101].text.as_str()), (102, "msg_00100"));
    let mut count = 0;
    let stop = &mut |_| {
        count += 1;
        if count == 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    read(&CountingFiles::default(), &recorded.transcript(OTHER_ID), ReadDirection::Back, stop)
        .unwrap();
    assert_eq!(count, 20);
}

#[test]
fn damaged_document_or_database_is_read_without_an_error() {
    let recorded = RecordedDatabase::new();
    let document = exported(&recorded, FIRST_ID);
    assert_damage_is_tolerated(&OpenCode, "document.json", str::from_utf8(&document).unwrap());
    recorded.change("CREATE TEMP TABLE kept AS SELECT * FROM part");
    let change = "DELETE FROM part; INSERT INTO part SELECT * FROM kept;
        UPDATE part SET data = CAST(substr(CAST(data AS BLOB), 1, N) || x'ff' ||
        substr(CAST(data AS BLOB), N + 2) AS TEXT)";
    for at in (0..120).step_by(3) {
        recorded.change(&change.replace(" N", &format!(" {at}")));
        recorded.turns(FIRST_ID);
    }
}
