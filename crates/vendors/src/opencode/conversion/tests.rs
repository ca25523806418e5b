use jiff::SignedDuration;
use segue_core::model::{Tool, VendorSessionId};

use super::super::recorded::{FIRST_ID, OTHER_ID, RecordedDatabase};
use super::*;
use crate::testing::Home;
use crate::testing::turns::{order, read_turns, write_all};

const NEW_ID: &str = "ses_0198aaaaaaaa70008000000000000abc";

fn now() -> Timestamp {
    Timestamp::from_millisecond(1_900_000_000_000).unwrap()
}

fn turns() -> Vec<Turn> {
    let tool = |id: &str, failed| Tool { id: id.to_owned(), name: "Bash".to_owned(), failed };
    let turn = |role, text: &str| Turn::new(role, text);
    let all = vec![
        turn(Role::User, "first ü\n```rust\nfn main() {}\n```"),
        turn(Role::User, "and another"),
        turn(Role::Assistant, "let me see"),
        turn(Role::ToolCall, r#"{"command":"ls"}"#).with_tool(tool("toolu_1", false)),
        turn(Role::ToolResult, "a.txt").with_tool(tool("toolu_1", false)),
        turn(Role::ToolCall, r#"{"path":"b","command":"cat"}"#).with_tool(tool("toolu_2", false)),
        turn(Role::ToolResult, "no such file").with_tool(tool("toolu_2", true)),
        turn(Role::Assistant, "there is"),
        turn(Role::Assistant, "only a.txt"),
        turn(Role::User, "\u{1f600} \"]}\\"),
    ];
    let seconds = [-6, -5, -4, -5, -3, -2, -2, 1, 2, -3];
    let at = |second| Some(now() + SignedDuration::from_secs(second));
    all.into_iter().zip(seconds).map(|(turn, second)| turn.at(at(second))).collect()
}

fn write(
    recorded: &RecordedDatabase,
    id: &str,
    append_to: bool,
    turns: &[Turn],
) -> Result<Vec<u8>> {
    let (place, id) = (recorded.place(), VendorSessionId::new(id));
    let append_to = append_to.then(|| recorded.transcript(id.as_str()));
    let home = Home::new();
    let order = TranscriptionOrder {
        place: &place,
        title: "shop/coder",
        now: now(),
        ..order(&home, &id, append_to.as_deref())
    };
    let mut transcription = OpenCode.transcription(&order)?;
    assert_eq!(transcription.target, Target::Import);
    Ok(write_all(&mut transcription, turns))
}

/// Returns the properties of turns that must be the same when they are read again.
fn comparable(turns: &[Turn]) -> Vec<(Role, String, Option<Tool>, Option<Timestamp>)> {
    turns.iter().map(|turn| (turn.role, turn.text.clone(), turn.tool.clone(), turn.at)).collect()
}

fn ids(document: &[u8]) -> Vec<(i64, String)> {
    let document: Value = serde_json::from_slice(document).unwrap();
    let time_and_id = |message: &Value| {
        let info = &message["info"];
        (info["time"]["created"].as_i64().unwrap(), info["id"].as_str().unwrap().to_owned())
    };
    document["messages"].as_array().unwrap().iter().map(time_and_id).collect()
}

#[test]
fn written_turns_read_back_from_the_document_and_after_its_import() {
    let recorded = RecordedDatabase::new();
    let document = write(&recorded, NEW_ID, false, &turns()).unwrap();
    assert_eq!(
        comparable(&read_turns(&OpenCode, &recorded.write(&document))),
        comparable(&turns())
    );
    let others = recorded.turns(FIRST_ID);
    for _ in 0..2 {
        recorded.import(&document);
        assert_eq!(comparable(&recorded.turns(NEW_ID)), comparable(&turns()));
    }
    let second = write(&recorded, "ses_0198aaaaaaaa70008000000000000abd", false, &turns());
    recorded.import(&second.unwrap());
    assert_eq!(
        comparable(&recorded.turns(NEW_ID)),
        comparable(&turns()),
        "ids of conversations differ"
    );
    assert_eq!(recorded.turns(FIRST_ID), others);
}

#[test]
fn messages_are_in_order_whatever_their_times_and_have_the_expected_form() {
    let recorded = RecordedDatabase::new();
    let document = write(&recorded, NEW_ID, false, &turns()).unwrap();
    let ids = ids(&document);
    assert!(ids.is_sorted() && ids.iter().map(|(_, id)| id).is_sorted(), "{ids:?}");
    // Some turns are later than now, because another clock recorded them.
    assert_eq!(ids.last().unwrap().0, now().as_millisecond());
    assert!(ids.iter().all(|(_, id)| id.len() == 30 && id.as_str() < "msg_1"), "{ids:?}");
    let document: Value = serde_json::from_slice(&document).unwrap();
    let messages = document["messages"].as_array().unwrap();
    let shape: Vec<(&str, usize)> = messages
        .iter()
        .map(|turn| {
            (turn["info"]["role"].as_str().unwrap(), turn["parts"].as_array().unwrap().len())
        })
        .collect();
    let (user, assistant) = ("user", "assistant");
    assert_eq!(
        shape,
        [
            (user, 1),
            (user, 1),
            (assistant, 2),
            (assistant, 1),
            (assistant, 1),
            (assistant, 1),
            (user, 1)
        ]
    );
    assert_eq!(messages[2]["info"]["parentID"], messages[1]["info"]["id"]);
    assert_eq!(messages[2]["info"]["finish"], "tool-calls");
    assert_eq!(messages[0]["info"]["model"], json!({"providerID": "fake", "modelID": "fake-1"}));
    assert_eq!(document["info"]["title"], "shop/coder");
}

#[test]
fn arguments_that_are_no_object_and_calls_without_results_are_written() {
    let recorded = RecordedDatabase::new();
    let tool = Tool { id: "1".to_owned(), name: "t".to_owned(), failed: false };
    let call = Turn::new(Role::ToolCall, "plain words").with_tool(tool.clone());
    let lone = Turn::new(Role::ToolResult, "lone").with_tool(tool);
    let document = write(&recorded, NEW_ID, false, &[call.clone(), call, lone.clone(), lone]);
    let read = read_turns(&OpenCode, &recorded.write(document.unwrap()));
    let texts: Vec<&str> = read.iter().map(|turn| turn.text.as_str()).collect();
    let input = r#"{"input":"plain words"}"#;
    assert_eq!(texts, [input, "no result", input, "lone", "{}", "lone"]);
    let nothing = write(&recorded, NEW_ID, false, &[]).unwrap();
    assert!(read_turns(&OpenCode, &recorded.write(nothing)).is_empty());
}

#[test]
fn added_turns_follow_the_existing_turns() {
    let recorded = RecordedDatabase::new();
    let before = recorded.turns(OTHER_ID);
    // These turns are older than the existing ones.
    let old: Vec<Turn> =
        turns().into_iter().map(|turn| turn.at(Some(Timestamp::UNIX_EPOCH))).collect();
    for (round, added) in [old, turns()].into_iter().enumerate() {
        let existing = recorded.turns(OTHER_ID);
        let document = write(&recorded, OTHER_ID, true, &added).unwrap();
        let ids = ids(&document);
        assert!(ids.iter().map(|(_, id)| id).is_sorted(), "{ids:?}");
        assert!(ids.iter().all(|(_, id)| id.as_str() > "msg_1e26a1ded001Ll7SWjl9uIs4ii"));
        assert!(ids.iter().all(|(_, id)| id.as_str() < "msg_1e26a1df0"), "{ids:?}");
        recorded.import(&document);
        let all = [existing, added].concat();
        assert_eq!(comparable(&recorded.turns(OTHER_ID)), comparable(&all), "{round}");
    }
    assert_eq!(recorded.turns(OTHER_ID).len(), before.len() + 2 * turns().len());
    let missing = write(&recorded, "ses_gone", true, &turns());
    assert!(missing.unwrap_err().message.contains("does not exist"));
}

#[test]
fn reverted_messages_stay_reverted_when_turns_are_added() {
    let recorded = RecordedDatabase::new();
    let revert_to = |revert: &str| {
        recorded.change(&format!("UPDATE session SET revert = '{revert}' WHERE id = '{FIRST_ID}'"));
    };
    revert_to(r#"{"messageID":"msg_1e269920f001R2z6TBK4EBFjLk"}"#);
    let existing = recorded.turns(FIRST_ID);
    recorded.import(&write(&recorded, FIRST_ID, true, &turns()).unwrap());
    assert_eq!(comparable(&recorded.turns(FIRST_ID)), comparable(&[existing, turns()].concat()));
    revert_to(r#"{"messageID":"msg_1e2699251001nrkyPlUrQQ6qM7","partID":"prt_1"}"#);
    let error = write(&recorded, FIRST_ID, true, &turns()).unwrap_err();
    assert!(error.hints[0].contains("send a message"), "{error:?}");
}
