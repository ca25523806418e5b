use serde_json::json;

use super::*;
use crate::samples::{Disk, Home, plan, session};

fn described(transcript: Option<&str>) -> Described {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let description = VendorDescription {
        command: words(&["mytool", "chat"]),
        new: Some(words(&["--session", "{id}"])),
        resume: Some(words(&["--resume={id}"])),
        transcript: transcript.map(str::to_owned),
    };
    Described::new(VendorId::new("mytool"), description)
}

#[test]
fn the_id_is_filled_in_and_the_message_comes_last() {
    let (vendor, disk, session) = (described(None), Disk::default(), session());
    let id = VendorSessionId::new("an-id");
    let arguments = |mode, message| {
        vendor.command(&plan(&session, &disk, (mode, Some(&id), message))).unwrap().arguments
    };
    assert_eq!(
        arguments(LaunchMode::Fresh, Some("hello")),
        ["chat", "--session", "an-id", "hello"]
    );
    assert_eq!(arguments(LaunchMode::Resume, None), ["chat", "--resume=an-id"]);
}

#[test]
fn what_takes_no_id_is_given_none() {
    let mut vendor = described(None);
    let unique = Uuid::from_u128(7);
    assert!(vendor.preset_id(&session(), unique).is_some());
    vendor.description.new = Some(vec!["--fresh".into()]);
    assert_eq!(vendor.preset_id(&session(), unique), None);
}

#[test]
fn a_transcript_is_found_below_the_home_and_read_whatever_its_shape() {
    let home = Home::new();
    let (vendor, id) = (described(Some("~/.mytool/{id}.jsonl")), VendorSessionId::new("an-id"));
    let records = [
        json!({"role": "assistant", "content": "no"}),
        json!({"message": {"role": "user", "content": [{"type": "text", "text": "one"}]}}),
        json!({"type": "user", "text": "two"}),
    ];
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    assert_eq!(vendor.conversation(&home.disk, &home.place, &id).unwrap(), None);
    let path = home.write(".mytool/an-id.jsonl", text);
    assert_eq!(vendor.transcript(&home.disk, &home.place, &id), path);
    assert!(vendor.conversation(&home.disk, &home.place, &id).unwrap().is_some());
    let said = vendor.said_since(&home.disk, &home.place, &id, 0).unwrap();
    assert!(said.contains(&"one".to_owned()) && said.contains(&"two".to_owned()), "{said:?}");
    assert!(!said.contains(&"no".to_owned()), "{said:?}");
}
