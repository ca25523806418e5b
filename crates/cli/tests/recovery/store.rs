//! The store's file is deleted, overwritten or replaced, and then rebuilt.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use segue_testkit::events::Events;
use segue_testkit::files::names;
use segue_testkit::scene::{
    assert_knows, kill_daemon, pid, start_with_word, text, transcript, wait_event,
    wait_first_turns, write_agents,
};
use segue_testkit::{World, conversation, launches, processes};
use serde_json::Value;

use crate::world;

/// The fields of a session that survive any damage to the store.
const LASTING_FIELDS: [&str; 10] = [
    "id",
    "name",
    "fleet",
    "agent",
    "vendor",
    "vendor_session_id",
    "cwd",
    "headless",
    "launches",
    "created_at",
];

/// Creates a fleet in the project folder: one agent runs, one was resumed once and runs, one is
/// stopped, and one was quit by a person.
fn fleet() -> World {
    let world = world();
    write_agents(&world, "shop", &["runs", "resumed", "stopped", "left"]);
    world.ok(["up", "--json"]);
    wait_first_turns(&world);
    world.ok(["stop", "resumed"]);
    world.resume(["resumed"]).assert_back("resumed", "resumed");
    world.ok(["stop", "stopped"]);
    let left = world.session("left");
    let mut events = Events::of(&world);
    conversation::type_text(&world, &left, "/exit\r");
    wait_event(&mut events, "status_changed", "ended (quit)");
    world
}

/// Returns the lasting fields of each session.
fn lasting_fields(world: &World) -> BTreeMap<String, Vec<Value>> {
    let of = |session: &Value| LASTING_FIELDS.map(|key| session[key].clone()).to_vec();
    world.sessions().iter().map(|it| (text(it, "name").to_owned(), of(it))).collect()
}

/// Returns the store's files and their contents, without the file that every reader changes.
fn store_files(world: &World) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(world.database().parent().unwrap()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.is_file());
    let steady = files.filter(|path| !path.to_str().unwrap().ends_with("-shm"));
    steady.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// A function that damages the store's file.
type StoreDamage = fn(&World);

fn delete(world: &World) {
    fs::remove_file(world.database()).unwrap();
}

fn overwrite(world: &World) {
    fs::write(world.database(), "garbage, not a database\n".repeat(2000)).unwrap();
}

fn empty(world: &World) {
    File::options().write(true).open(world.database()).unwrap().set_len(0).unwrap();
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DaemonState {
    Runs,
    Stopped,
}

/// Damages the store, checks that nothing changes it without a request, and has it rebuilt.
fn assert_rebuilt_after(damage: StoreDamage, daemon: DaemonState) {
    let world = fleet();
    let before = lasting_fields(&world);
    let running = ["runs", "resumed"].map(|name| pid(&world.session(name), "pid"));
    if daemon == DaemonState::Stopped {
        world.ok(["daemon", "stop"]);
    }
    damage(&world);
    let damaged = fs::read(world.database()).ok();
    assert_nothing_is_changed(&world);
    let report = world.json(["doctor", "--fix", "--json"]);
    assert_eq!(report["findings"][0]["fixed"], true, "{report:#}");
    let more = &report["findings"].as_array().unwrap()[1..];
    assert!(more.iter().all(|it| it["severity"] == "note"), "{report:#}");
    assert_eq!(lasting_fields(&world), before);
    assert_kept_aside(&world, damaged.as_ref());
    assert_works_again(&world, &running);
}

/// Checks that `run` and `doctor` report the damage and change nothing.
fn assert_nothing_is_changed(world: &World) {
    let (files, folders) = (store_files(world), launches::all(world).len());
    let run = world.segue(["run", "-d", "--name", "new", "hello"]);
    assert_eq!(run.status, 7, "{run:#?}");
    assert!(run.stderr.contains("`segue doctor --fix`"), "{run:#?}");
    let look = world.segue(["doctor"]);
    assert_eq!(look.status, 1, "{look:#?}");
    assert!(look.stdout.starts_with("problem: the store"), "{look:#?}");
    assert!(look.stdout.contains("cure: run `segue doctor --fix`"), "{look:#?}");
    assert!(store_files(world) == files, "{:?} {:?}", store_files(world).keys(), files.keys());
    assert_eq!(launches::all(world).len(), folders, "a launch was started");
}

/// Checks that the damaged file was kept under another name, byte for byte.
fn assert_kept_aside(world: &World, damaged: Option<&Vec<u8>>) {
    let aside = store_files(world).into_iter().find(|(path, _)| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("segue.db.broken-") && !name.ends_with("-wal")
    });
    assert!(aside.as_ref().map(|(_, bytes)| bytes) == damaged, "{:?}", store_files(world).keys());
    let mode = fs::metadata(world.database()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

fn assert_works_again(world: &World, running: &[u32]) {
    assert!(world.ok(["doctor"]).starts_with("nothing is wrong\n"));
    for (name, detail) in [("stopped", "stopped"), ("left", "quit")] {
        let session = world.session(name);
        assert_eq!((text(&session, "status"), text(&session, "status_detail")), ("ended", detail));
    }
    // No name is given: the rebuilt store knows the folder of the fleet.
    let report = world.resume([]);
    report.assert_back("runs", "running");
    report.assert_back("resumed", "running");
    world.resume(["stopped"]).assert_back("stopped", "resumed");
    let pids = ["runs", "resumed"].map(|name| pid(&world.session(name), "pid"));
    assert_eq!(pids, running, "an agent was restarted");
    for name in ["runs", "resumed", "stopped"] {
        assert_knows(world, name, name);
    }
    assert_eq!(world.session("resumed")["evidence"], "registry");
}

#[test]
fn store_deleted_while_the_daemon_runs_is_rebuilt() {
    assert_rebuilt_after(delete, DaemonState::Runs);
}

#[test]
fn store_deleted_while_no_daemon_runs_is_rebuilt() {
    assert_rebuilt_after(delete, DaemonState::Stopped);
}

#[test]
fn store_overwritten_while_the_daemon_runs_is_rebuilt_and_the_file_is_kept() {
    assert_rebuilt_after(overwrite, DaemonState::Runs);
}

#[test]
fn store_overwritten_while_no_daemon_runs_is_rebuilt_and_the_file_is_kept() {
    assert_rebuilt_after(overwrite, DaemonState::Stopped);
}

#[test]
fn empty_store_is_rebuilt_and_the_file_is_kept() {
    assert_rebuilt_after(empty, DaemonState::Stopped);
}

#[test]
fn write_ahead_log_of_a_deleted_store_is_moved_aside() {
    let world = world();
    let session = start_with_word(&world, "coder", "fox");
    kill_daemon(&world);
    assert!(world.database().with_extension("db-wal").metadata().unwrap().len() > 0);
    delete(&world);
    assert_eq!(world.segue(["ls"]).status, 7);
    world.ok(["doctor", "--fix"]);
    assert_eq!(world.session("coder")["id"], session["id"]);
    assert!(names(world.database().parent().unwrap()).contains(&"segue.db.orphan-wal".to_owned()));
    world.resume([]).assert_back("coder", "running");
}

#[test]
fn store_replaced_by_an_older_copy_is_completed_from_the_launch_folders() {
    let world = world();
    start_with_word(&world, "coder", "fox");
    let copy = world.database().with_extension("copy");
    // The daemon writes its last commits into the file when it ends.
    world.ok(["daemon", "stop"]);
    fs::copy(world.database(), &copy).unwrap();
    let later = start_with_word(&world, "later", "owl");
    fs::rename(&copy, world.database()).unwrap();
    for companion in ["db-wal", "db-shm"] {
        fs::remove_file(world.database().with_extension(companion)).unwrap();
    }
    let run = world.segue(["run", "-d", "--name", "new", "hello"]);
    assert_eq!(run.status, 7, "{run:#?}");
    assert_eq!(world.segue(["doctor"]).status, 1);
    world.ok(["doctor", "--fix"]);
    // The older file lacks the session that was started later. The launch folders have it.
    let found = world.segue(["doctor"]);
    assert!(
        found.stdout.contains("`default/later` has launch folders, but is not in the store"),
        "{found:#?}"
    );
    world.ok(["doctor", "--fix"]);
    assert_eq!(world.session("later")["pid"], later["pid"]);
    let report = world.resume(["--all"]);
    report.assert_back("coder", "running");
    report.assert_back("later", "running");
    assert_knows(&world, "later", "owl");
}

#[test]
fn rebuilt_store_knows_that_a_conversation_had_messages() {
    let world = world();
    let session = start_with_word(&world, "coder", "fox");
    world.kill_everything();
    delete(&world);
    fs::remove_file(transcript(&world, &session)).unwrap();
    launches::remove_copies(&world, &session);
    world.ok(["daemon", "start"]);
    world.segue(["doctor", "--fix"]);
    world.resume(["coder"]).assert_not_back("coder", "refused");
}

#[test]
fn kill_of_all_processes_and_deletion_of_the_store_lose_no_session() {
    let world = fleet();
    let before = lasting_fields(&world);
    world.kill_everything();
    delete(&world);
    world.ok(["doctor", "--fix"]);
    assert_eq!(lasting_fields(&world), before);
    let report = world.resume(["--stopped"]);
    for name in ["runs", "resumed", "stopped"] {
        report.assert_back(name, "resumed");
        assert_knows(&world, name, name);
    }
}

#[test]
fn unreadable_launch_folder_is_reported_and_the_others_are_rebuilt() {
    let world = world();
    let lost = start_with_word(&world, "lost", "fox");
    start_with_word(&world, "coder", "owl");
    world.ok(["stop", "--all"]);
    let (folder, _) = launches::newest(&world, &lost);
    fs::write(folder.join("session.json"), "{ torn").unwrap();
    delete(&world);
    let report = world.json(["doctor", "--fix", "--json"]);
    assert_eq!(report["findings"][0]["fixed"], true, "{report:#}");
    let findings = report["findings"].to_string();
    assert!(findings.contains(folder.to_str().unwrap()), "{report:#}");
    world.resume(["--all", "--stopped"]).assert_back("coder", "resumed");
    assert_knows(&world, "coder", "owl");
    assert!(folder.join("guard").is_dir(), "the unreadable folder was deleted");
    assert!(processes::is_alive(pid(&world.session("coder"), "pid")));
}
