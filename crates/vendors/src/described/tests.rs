use serde_json::json;

use super::*;
use crate::testing::{CountingFiles, Home, plan, session};

fn described(transcript: Option<&str>) -> DescribedVendor {
    let to_strings =
        |to_strings: &[&str]| to_strings.iter().map(|word| (*word).to_owned()).collect();
    let description = VendorDescription {
        command: to_strings(&["mytool", "chat"]),
        new: Some(to_strings(&["--session", "{id}"])),
        resume: Some(to_strings(&["--resume={id}"])),
        transcript: transcript.map(str::to_owned),
    };
    DescribedVendor::new(VendorId::new("mytool"), description)
}

#[test]
fn command_fills_in_the_id_and_puts_the_message_last() {
    let (vendor, disk, session) = (described(None), CountingFiles::default(), session());
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
fn vendor_without_an_id_placeholder_gets_no_preset_id() {
    let mut vendor = described(None);
    let unique = Uuid::from_u128(7);
    assert!(vendor.preset_id(&session(), unique).is_some());
    vendor.description.new = Some(vec!["--fresh".into()]);
    assert_eq!(vendor.preset_id(&session(), unique), None);
}

#[test]
fn description_without_a_transcript_gives_no_transcripts_facet() {
    let vendor = described(None);
    assert!(vendor.transcripts().is_none() && vendor.transcript_files().is_none());
    assert!(vendor.signals().is_none() && vendor.conversion().is_none());
    assert!(vendor.launching().headless().is_none());
    let vendor = described(Some("~/{id}"));
    assert!(vendor.transcript_files().is_some() && vendor.transcript_database().is_none());
}

#[test]
fn transcript_is_found_below_home_and_read_in_any_format() {
    let home = Home::new();
    let (vendor, id) = (described(Some("~/.mytool/{id}.jsonl")), VendorSessionId::new("an-id"));
    let transcripts = vendor.transcripts().unwrap();
    let records = [
        json!({"role": "assistant", "content": "no"}),
        json!({"message": {"role": "user", "content": [{"type": "text", "text": "one"}]}}),
        json!({"type": "user", "text": "two"}),
    ];
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    assert_eq!(transcripts.conversation(&home.disk, &home.place, &id).unwrap(), None);
    let path = home.write(".mytool/an-id.jsonl", text);
    assert_eq!(transcripts.transcript(&home.disk, &home.place, &id), path);
    assert!(transcripts.conversation(&home.disk, &home.place, &id).unwrap().is_some());
    let texts = transcripts.user_messages_since(&home.disk, &home.place, &id, 0).unwrap();
    assert!(texts.contains(&"one".to_owned()) && texts.contains(&"two".to_owned()), "{texts:?}");
    assert!(!texts.contains(&"no".to_owned()), "{texts:?}");
}
