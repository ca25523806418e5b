//! A damaged store: readable records are kept, unreadable ones are reported, and no message is
//! delivered twice.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::PathBuf;

use segue_testkit::files::names;
use segue_testkit::scene::{kill_daemon, text, wait_first_turns, write_shop};
use segue_testkit::{World, conversation};
use serde_json::Value;

use crate::world;

/// The size of a page of the database.
const PAGE_BYTES: u64 = 4096;

/// The number of queued messages. They fill several pages of the database.
const QUEUED: usize = 14;

/// Creates a world whose store has messages, trust, a timer and a handoff. No launch folder has them.
fn world_with_records() -> World {
    let world = world();
    world.write("coder.md", "remember the word fox");
    let timer = "[[agents.timers]]\nevery = \"9h\"\nprompt = \"and now?\"\n";
    write_shop(&world, &format!("prompt = \"coder.md\"\n{timer}"));
    world.ok(["up"]);
    wait_first_turns(&world);
    world.ok(["send", "coder", "--wait", "said before"]);
    world.ok(["handoff", "coder", "--to", "demo", "--name", "next"]);
    world.ok(["stop", "--all"]);
    for number in 0..QUEUED {
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

fn records(world: &World) -> ExpectedRecords {
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
fn invert_first_byte(world: &World, page: u64, text: &str) {
    let bytes = fs::read(world.database()).unwrap();
    let start = usize::try_from(page * PAGE_BYTES).unwrap();
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
    let has_text = |page: &[u8]| page.windows(text.len()).any(|it| it == text.as_bytes());
    let pages = bytes.chunks(usize::try_from(PAGE_BYTES).unwrap());
    (0..).zip(pages).filter(|(_, page)| has_text(page)).map(|(number, _)| number).collect()
}

/// Stops the daemon cleanly, which leaves a backup, and damages the store. Then repairs the store.
/// Returns the report of `doctor --fix`.
fn damage_and_repair(world: &World, damage: impl FnOnce(&World)) -> Value {
    world.ok(["daemon", "stop"]);
    damage(world);
    let refused = world.segue(["ls"]);
    assert_eq!(refused.status, 7, "{refused:#?}");
    let report = world.json(["doctor", "--fix", "--json"]);
    assert_eq!(report["findings"][0]["fixed"], true, "{report:#}");
    assert!(world.ok(["doctor"]).starts_with("nothing is wrong\n"));
    report
}

/// Damages and repairs a store. Checks that it has all records again, and that each queued message is
/// delivered once.
fn assert_repaired_after(damage: impl FnOnce(&World)) {
    let world = world_with_records();
    let before = records(&world);
    assert_eq!(before.messages.len(), QUEUED + 1);
    let report = damage_and_repair(&world, damage);
    assert_eq!(records(&world), before, "{report:#}");
    assert_delivered_once(&world);
}

/// Resumes the agent, and checks that each queued message is delivered once.
fn assert_delivered_once(world: &World) {
    world.ok(["resume", "next"]);
    assert_eq!(world.ok(["wait", "next", "--for", "idle", "--timeout", "170s"]), "idle\n");
    let all = conversation::transcripts(world);
    let received: Vec<String> = all.iter().flat_map(|it| conversation::user_messages(it)).collect();
    for number in 0..QUEUED {
        let prefix = format!("queued {number} ");
        let times = received.iter().filter(|it| it.starts_with(&prefix)).count();
        assert_eq!(times, 1, "{prefix}");
    }
}

#[test]
fn store_with_a_damaged_header_keeps_messages_trust_timers_and_handoffs() {
    assert_repaired_after(|world| overwrite(world.database(), 0, 100));
}

#[test]
fn store_with_a_damaged_first_page_keeps_messages_trust_timers_and_handoffs() {
    assert_repaired_after(|world| overwrite(world.database(), 0, PAGE_BYTES));
}

#[test]
fn store_with_a_damaged_middle_keeps_messages_trust_timers_and_handoffs() {
    assert_repaired_after(|world| {
        let pages = fs::metadata(world.database()).unwrap().len() / PAGE_BYTES;
        overwrite(world.database(), pages / 2 * PAGE_BYTES, 3 * PAGE_BYTES);
    });
}

#[test]
fn damaged_pages_of_messages_are_restored_from_the_backup() {
    assert_repaired_after(|world| {
        for page in pages_with(world, "queued 1") {
            overwrite(world.database(), page * PAGE_BYTES, PAGE_BYTES);
        }
    });
}

#[test]
fn message_with_an_inverted_byte_is_restored_from_the_backup() {
    assert_repaired_after(|world| {
        let backup = world.database().with_extension("db.backup");
        let before = fs::read(&backup).unwrap();
        for page in pages_with(world, "queued 1") {
            invert_first_byte(world, page, "queued 1");
        }
        // A daemon that finds the damage does not overwrite the backup.
        assert_eq!(world.segue(["send", "next", "--no-wait", "more"]).status, 7);
        assert_eq!(fs::read(&backup).unwrap(), before);
    });
}

#[test]
fn missing_store_is_rebuilt_from_its_backup() {
    assert_repaired_after(|world| fs::remove_file(world.database()).unwrap());
}

#[test]
fn damaged_pages_without_a_backup_are_reported_and_other_messages_are_kept() {
    let world = world_with_records();
    let report = damage_and_repair(&world, |world| {
        for name in names(world.database().parent().unwrap()) {
            if name.contains(".backup") {
                fs::remove_file(world.database().with_file_name(name)).unwrap();
            }
        }
        let pages = pages_with(world, "queued 2");
        overwrite(world.database(), pages[0] * PAGE_BYTES, PAGE_BYTES);
    });
    let findings = report["findings"].to_string();
    assert!(findings.contains("not all of these could be read: "), "{report:#}");
    assert!(findings.contains("messages"), "{report:#}");
    let after = records(&world);
    assert!(after.trusted);
    assert!(!after.messages.is_empty(), "one damaged page lost all messages");
}

#[test]
fn message_delivered_after_the_last_readable_commit_is_not_delivered_again() {
    let world = world_with_records();
    // This leaves a backup in which all messages are queued.
    world.ok(["daemon", "stop"]);
    assert_delivered_once(&world);
    kill_daemon(&world);
    overwrite(wal(&world), 0, fs::metadata(wal(&world)).unwrap().len());
    for page in pages_with(&world, "queued 1") {
        overwrite(world.database(), page * PAGE_BYTES, PAGE_BYTES);
    }
    world.kill_everything();
    world.segue(["doctor", "--fix"]);
    let states = records(&world).messages;
    assert!(states.iter().all(|(_, state)| state != "queued"), "{states:?}");
    assert_delivered_once(&world);
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
