use super::super::recorded::{FIRST_ID, OTHER_ID, RecordedDatabase};
use super::*;

#[test]
fn exported_conversation_is_the_same_after_an_import() {
    let recorded = RecordedDatabase::new();
    let revert = r#"{"messageID":"msg_1e269920f001R2z6TBK4EBFjLk"}"#;
    recorded.change(&format!(
        "UPDATE session SET revert = '{revert}', permission = '[]' WHERE id = '{FIRST_ID}'"
    ));
    let exported = |database: &RecordedDatabase| {
        export(database.folder.path(), &VendorSessionId::new(FIRST_ID))
    };
    let first = exported(&recorded).unwrap().unwrap();
    let document: Value = serde_json::from_slice(&first).unwrap();
    let info = &document["info"];
    assert_eq!(info["model"]["providerID"], "fake");
    assert_eq!(info["revert"]["messageID"], "msg_1e269920f001R2z6TBK4EBFjLk");
    assert_eq!(info["permission"], json!([]));
    assert_eq!(
        info["time"],
        json!({"created": 1_794_799_213_811_i64, "updated": 1_794_799_958_456_i64})
    );
    assert!(info.get("parentID").is_none() && info.get("share").is_none(), "{info}");
    let messages = document["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 11);
    assert_eq!(messages[3]["parts"].as_array().unwrap().len(), 3);
    let before = recorded.turns(FIRST_ID);
    let other = RecordedDatabase::new();
    other.change("DELETE FROM part; DELETE FROM message; DELETE FROM session");
    assert_eq!(exported(&other).unwrap(), None);
    other.import(&first);
    assert_eq!(other.turns(FIRST_ID), before);
    let again: Value = serde_json::from_slice(&exported(&other).unwrap().unwrap()).unwrap();
    assert_eq!(again["messages"], document["messages"]);
}

#[test]
fn export_is_none_without_a_database_and_fails_above_the_size_limit() {
    let recorded = RecordedDatabase::new();
    let id = VendorSessionId::new(OTHER_ID);
    assert_eq!(export(&recorded.folder.path().join("nowhere"), &id).unwrap(), None);
    assert!(export_up_to(recorded.folder.path(), &id, 10_000.0).unwrap().is_some());
    let error = export_up_to(recorded.folder.path(), &id, 100.0).unwrap_err();
    assert!(error.message.contains("too large"), "{error:?}");
}
