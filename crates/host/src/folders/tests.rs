use std::os::unix::fs::MetadataExt as _;

use jiff::Timestamp;
use segue_core::model::{Exit, Launch, Session};
use segue_core::{Kind, model::Environment};
use segue_fakes::samples;
use tempfile::TempDir;
use uuid::Uuid;

use super::*;

fn disk() -> (TempDir, DiskFolders) {
    let temp = TempDir::new().unwrap();
    let home = ("SEGUE_HOME".to_owned(), temp.path().to_str().unwrap().to_owned());
    let paths = Paths::from_environment(&Environment::new([home])).unwrap();
    paths.ensure().unwrap();
    (temp, DiskFolders::new(paths))
}

fn session() -> Session {
    let fleet = FleetName::parse("shop").unwrap();
    Session { id: SessionId::new(Uuid::now_v7()), fleet, ..samples::session(1, "coder") }
}

fn record() -> LaunchRecord {
    let session = session();
    let launch = Launch {
        id: LaunchId::new(Uuid::now_v7()),
        message: Some("hello".to_owned()),
        ..samples::launch(&session)
    };
    LaunchRecord::new(session, launch, Vec::new())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn read_all_returns_records_and_lists_damaged_folders() {
    let (_temp, folders) = disk();
    let (first, second) = (record(), record());
    folders.write(&first).unwrap();
    folders.write(&second).unwrap();
    folders.write(&second).unwrap();
    let launches = folders.paths.launches();
    let torn = launches.join(Uuid::now_v7().to_string());
    fs::create_dir(&torn).unwrap();
    fs::write(torn.join(RECORD), "{\"agent_id\": \"co").unwrap();
    // A record that was copied into another launch's folder is not the record of that launch.
    let copied = launches.join(Uuid::now_v7().to_string());
    fs::create_dir(&copied).unwrap();
    fs::copy(folders.paths.launch(first.launch.id).join(RECORD), copied.join(RECORD)).unwrap();
    fs::create_dir(launches.join(".removed-x")).unwrap();

    let (records, unreadable) = folders.read_all().unwrap();
    assert_eq!(records, [first.clone(), second]);
    assert_eq!(unreadable, [torn, copied]);
    let folder = folders.paths.launch(first.launch.id);
    assert_eq!((mode(&folder), mode(&folder.join(RECORD))), (0o700, 0o600));
}

#[test]
fn record_has_the_fields_that_scripts_rely_on() {
    let (_temp, folders) = disk();
    let record = record();
    folders.write(&record).unwrap();
    let text = fs::read_to_string(folders.paths.launch(record.launch.id).join(RECORD)).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["agent_id"], "coder");
    assert_eq!(value["session_name"], "shop/coder");
    assert_eq!(value["session_id"], serde_json::Value::Null);
    assert_eq!(value["cli_command"][0], "tool");
    assert_eq!(value["spawned_at"], "2030-01-02T03:04:05Z");
}

#[test]
fn end_returns_the_record_of_the_holder_and_none_if_it_is_damaged() {
    let (_temp, folders) = disk();
    let record = record();
    folders.write(&record).unwrap();
    let launch = record.launch.id;
    assert_eq!(folders.end(launch).unwrap(), None);
    let end = LaunchEnd { exit: Exit::Signal(9), is_requested: false, at: Timestamp::UNIX_EPOCH };
    let path = folders.paths.launch(launch).join(END);
    fs::write(&path, serde_json::to_vec(&end).unwrap()).unwrap();
    assert_eq!(folders.end(launch).unwrap(), Some(end));
    fs::write(&path, "{").unwrap();
    assert_eq!(folders.end(launch).unwrap(), None);
}

#[test]
fn long_message_is_written_to_a_private_file() {
    let (_temp, folders) = disk();
    let launch = LaunchId::new(Uuid::now_v7());
    let message = "ä".repeat(1 << 20);
    let path = folders.message(launch);
    folders.write_message(launch, &message).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), message);
    assert_eq!(mode(&path), 0o600);
    assert_eq!(folders.stream(launch).file_name().unwrap(), STREAM);
}

#[test]
fn fleet_file_is_written_and_removed_only_in_its_folder() {
    let (_temp, folders) = disk();
    let mut record = FleetRecord {
        counts: segue_core::model::Counts::new(),
        fleet: FleetName::parse("shop").unwrap(),
        folder: None,
        agents: Vec::new(),
        written_at: Timestamp::UNIX_EPOCH,
    };
    folders.write_fleet(&record).unwrap();
    let path = folders.paths.fleets().join("shop.json");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(folders.read_fleet(&record.fleet).unwrap(), Some(record.clone()));
    folders.remove_fleet(&record.fleet).unwrap();
    folders.remove_fleet(&record.fleet).unwrap();
    assert!(!path.exists());
    assert_eq!(folders.read_fleet(&record.fleet).unwrap(), None);
    if let Ok(bad) = serde_json::from_str("\"../escaped\"") {
        record.fleet = bad;
        assert_eq!(folders.write_fleet(&record).unwrap_err().kind, Kind::Usage);
    }
}

#[test]
fn remove_deletes_the_launch_folder_and_leftovers_of_interrupted_removals() {
    let (_temp, folders) = disk();
    let record = record();
    folders.write(&record).unwrap();
    let launches = folders.paths.launches();
    fs::create_dir_all(launches.join(".removed-earlier/guard")).unwrap();
    folders.remove(record.launch.id).unwrap();
    folders.remove(record.launch.id).unwrap();
    assert_eq!(fs::read_dir(&launches).unwrap().count(), 0);
}

#[test]
fn guarded_transcript_is_restored_after_its_deletion() {
    let (temp, folders) = disk();
    let record = record();
    folders.write(&record).unwrap();
    let launch = record.launch.id;
    let transcript = temp.path().join("vendor/deep/conversation.jsonl");
    assert_eq!(folders.guard(launch, &transcript, &transcript).unwrap(), Guarded::NoTranscript);
    assert!(!folders.has_guard(launch, &transcript));
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    fs::write(&transcript, "one\n").unwrap();
    assert_eq!(folders.guard(launch, &transcript, &transcript).unwrap(), Guarded::Linked);
    assert!(folders.has_guard(launch, &transcript));
    fs::remove_dir_all(temp.path().join("vendor")).unwrap();
    folders.restore(launch, &transcript).unwrap();
    assert_eq!(fs::read(&transcript).unwrap(), b"one\n");
    assert_eq!(folders.guard(launch, &transcript, &transcript).unwrap(), Guarded::Already);
}

#[test]
fn texts_are_stored_beside_the_record_and_read_back_with_it() {
    let (_temp, folders) = disk();
    let mut record = record();
    record.session.instructions = Some("--be kind\n\u{1f98a}".to_owned());
    record.launch.message = Some("x".repeat(200_000));
    folders.write(&record).unwrap();
    folders.write(&record).unwrap();
    let folder = folders.paths.launch(record.launch.id);
    let written = fs::read_to_string(folder.join(RECORD)).unwrap();
    assert!(!written.contains("be kind") && written.len() < 10_000, "{written}");
    assert_eq!(mode(&folder.join(TEXTS)), 0o600);
    assert_eq!(folders.read_all().unwrap(), (vec![record], Vec::new()));
    fs::write(folder.join(TEXTS), "{").unwrap();
    assert_eq!(folders.read_all().unwrap(), (Vec::new(), vec![folder]));
}
