//! A damaged store: readable records are kept, unreadable ones are reported, and no message is
//! delivered twice.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::PathBuf;

use segue_testkit::scene::{kill_daemon, names, text, wait_all_told};
use segue_testkit::{World, conversation};
use serde_json::Value;

use crate::world;

const PAGE: u64 = 4096;

/// Creates a world whose store has records that no launch folder has.
fn rich() -> World {
    let world = world();
    world.write("coder.md", "remember the word fox");
    world.write(
        "segue.toml",
        "[fleet]\nname = \"shop\"\n[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n\
         prompt = \"coder.md\"\n[[agents.timers]]\nevery = \"9h\"\n\
         prompt = \"and now?\"\n",
    );
    world.ok(["trust", "--yes"]);
    world.ok(["up"]);
    wait_all_told(&world);
    world.ok(["send", "coder", "--wait", "said before"]);
    world.ok(["handoff", "coder", "--to", "demo", "--name", "next"]);
    world.ok(["stop", "--all"]);
    for number in 0..40 {
        let message = format!("queued {number} {}", "and more ".repeat(200));
        world.ok(["send", "next", "--no-wait", &message]);
    }
    world
}

/// The records that must exist again after a repair.
#[derive(Debug, PartialEq, Eq)]
struct ExpectedRecords {
    messages: Vec<(String, String)>,
    trusted: bool,
    handoffs: usize,
    sessions: Vec<String>,
}

fn kept(world: &World) -> ExpectedRecords {
    let list = world.json(["messages", "--json"]);
    let field = |it: &Value, key| text(it, key).to_owned();
    let messages = list["messages"].as_array().unwrap().iter();
    let messages = messages.map(|it| (field(it, "id"), field(it, "state"))).collect();
    let story = world.ok(["show", "next", "--story", "--json"]);
    let mut sessions: Vec<String> = world.sessions().iter().map(|it| field(it, "name")).collect();
    sessions.sort();
    ExpectedRecords {
        messages,
        trusted: world.ok(["trust"]).contains("already trusted"),
        handoffs: story.matches("said before").count(),
        sessions,
    }
}

/// Writes garbage over bytes of a file.
fn overwrite(path: PathBuf, from: u64, length: u64) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let garbage: Vec<u8> = (0..length).map(|it| u8::try_from(it * 37 % 251).unwrap()).collect();
    file.write_all_at(&garbage, from).unwrap();
}

/// Inverts the first byte of a text on a page of the database.
fn flip_first(world: &World, page: u64, text: &str) {
    let bytes = fs::read(world.database()).unwrap();
    let start = usize::try_from(page * PAGE).unwrap();
    let found = bytes[start..].windows(text.len()).position(|it| it == text.as_bytes()).unwrap();
    let file = OpenOptions::new().write(true).open(world.database()).unwrap();
    let at = start + found;
    file.write_all_at(&[!bytes[at]], u64::try_from(at).unwrap()).unwrap();
}

fn wal(world: &World) -> PathBuf {
    world.database().with_extension("db-wal")
}

/// Returns the numbers of the database pages that contain this text.
fn pages_with(world: &World, text: &str) -> Vec<u64> {
    let bytes = fs::read(world.database()).unwrap();
    let has = |page: &[u8]| page.windows(text.len()).any(|it| it == text.as_bytes());
    let pages = bytes.chunks(usize::try_from(PAGE).unwrap());
    (0..).zip(pages).filter(|(_, page)| has(page)).map(|(number, _)| number).collect()
}

/// Stops the daemon cleanly, which leaves a backup, and damages the store. Then repairs the store
/// and returns the report of `doctor --fix`.
fn rebuilt_after(world: &World, damage: impl FnOnce(&World)) -> Value {
    world.ok(["daemon", "stop"]);
    damage(world);
    let refused = world.segue(["ls"]);
    assert_eq!(refused.status, 7, "{refused:#?}");
    let report = world.json(["doctor", "--fix", "--json"]);
    assert_eq!(report["findings"][0]["fixed"], true, "{report:#}");
    assert!(world.ok(["doctor"]).starts_with("nothing is wrong\n"));
    report
}

fn all_is_kept_after(damage: impl FnOnce(&World)) {
    let world = rich();
    let before = kept(&world);
    assert_eq!(before.messages.len(), 41);
    let report = rebuilt_after(&world, damage);
    assert_eq!(kept(&world), before, "{report:#}");
    assert_said_once(&world);
}

/// Resumes the agent, and checks that each queued message is delivered once.
fn assert_said_once(world: &World) {
    world.ok(["resume", "next"]);
    assert_eq!(world.ok(["wait", "next", "--for", "idle", "--timeout", "170s"]), "idle\n");
    let all = conversation::all(world);
    let said: Vec<String> = all.iter().flat_map(|it| conversation::said(it)).collect();
    for number in 0..40 {
        let begins = format!("queued {number} ");
        let times = said.iter().filter(|it| it.starts_with(&begins)).count();
        assert_eq!(times, 1, "{begins}");
    }
}

#[test]
fn a_store_with_a_damaged_header_keeps_messages_trust_timers_and_handoffs() {
    all_is_kept_after(|world| overwrite(world.database(), 0, 100));
}

#[test]
fn a_store_with_a_damaged_first_page_keeps_messages_trust_timers_and_handoffs() {
    all_is_kept_after(|world| overwrite(world.database(), 0, PAGE));
}

#[test]
fn a_store_with_a_damaged_middle_keeps_messages_trust_timers_and_handoffs() {
    all_is_kept_after(|world| {
        let pages = fs::metadata(world.database()).unwrap().len() / PAGE;
        overwrite(world.database(), pages / 2 * PAGE, 3 * PAGE);
    });
}

#[test]
fn damaged_pages_of_messages_are_restored_from_the_backup() {
    all_is_kept_after(|world| {
        for page in pages_with(world, "queued 1") {
            overwrite(world.database(), page * PAGE, PAGE);
        }
    });
}

#[test]
fn message_with_an_inverted_byte_is_restored_from_the_backup() {
    all_is_kept_after(|world| {
        let backup = world.database().with_extension("db.backup");
        let before = fs::read(&backup).unwrap();
        for page in pages_with(world, "queued 1") {
            flip_first(world, page, "queued 1");
        }
        // A daemon that finds the damage does not overwrite the backup.
        assert_eq!(world.segue(["send", "next", "--no-wait", "more"]).status, 7);
        assert_eq!(fs::read(&backup).unwrap(), before);
    });
}

#[test]
fn missing_store_is_rebuilt_from_its_backup() {
    all_is_kept_after(|world| fs::remove_file(world.database()).unwrap());
}

#[test]
fn damaged_pages_without_a_backup_are_reported_and_other_messages_are_kept() {
    let world = rich();
    let report = rebuilt_after(&world, |world| {
        for name in names(world.database().parent().unwrap()) {
            if name.contains(".backup") {
                fs::remove_file(world.database().with_file_name(name)).unwrap();
            }
        }
        let pages = pages_with(world, "queued 2");
        overwrite(world.database(), pages[0] * PAGE, PAGE);
    });
    let told = report["findings"].to_string();
    assert!(told.contains("not all of these could be read: "), "{report:#}");
    assert!(told.contains("messages"), "{report:#}");
    let after = kept(&world);
    assert!(after.trusted);
    assert!(!after.messages.is_empty(), "one damaged page lost all messages");
}

#[test]
fn message_delivered_after_the_last_readable_commit_is_not_delivered_again() {
    let world = rich();
    // This leaves a backup in which all messages are queued.
    world.ok(["daemon", "stop"]);
    assert_said_once(&world);
    kill_daemon(&world);
    overwrite(wal(&world), 0, fs::metadata(wal(&world)).unwrap().len());
    for page in pages_with(&world, "queued 1") {
        overwrite(world.database(), page * PAGE, PAGE);
    }
    world.kill_everything();
    world.segue(["doctor", "--fix"]);
    let states = kept(&world).messages;
    assert!(states.iter().all(|(_, state)| state != "queued"), "{states:?}");
    assert_said_once(&world);
}

#[test]
fn at_most_two_backups_exist_and_only_their_owner_can_read_them() {
    let world = world();
    world.ok(["run", "-d", "--name", "coder", "hello"]);
    for _ in 0..3 {
        world.ok(["send", "coder", "--no-wait", "more"]);
        world.ok(["daemon", "stop"]);
        world.ok(["daemon", "start"]);
    }
    let folder = world.database().parent().unwrap().to_owned();
    let backups: Vec<String> =
        names(&folder).into_iter().filter(|name| name.contains("backup")).collect();
    assert_eq!(backups, ["segue.db.backup", "segue.db.backup-older"]);
    for name in backups {
        let mode = fs::metadata(folder.join(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}
