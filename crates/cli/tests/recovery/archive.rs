//! The archive, Segue's own copy of every conversation: what is restored from it, what is kept out
//! of it, and what is deleted from it.

use std::fs;
use std::path::PathBuf;

use segue_testkit::scene::{assert_knows, project, text, told, told_events, transcript};
use segue_testkit::{World, archive, conversation, launches};
use serde_json::Value;

use crate::world;

/// Starts a session, gives it a word to remember, and stops it. The archive then has the whole
/// conversation.
fn told_and_stopped(world: &World, name: &str, word: &str) -> (Value, PathBuf) {
    let session = told(world, name, word);
    let path = transcript(world, &session);
    world.ok(["stop", name]);
    archive::wait_kept(world, &session, &path);
    (session, path)
}

/// Deletes a transcript and its guards; returns the transcript's bytes.
fn lose(world: &World, session: &Value, path: &PathBuf) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    fs::remove_file(path).unwrap();
    launches::remove_guards(world, session);
    bytes
}

#[test]
fn resume_restores_a_deleted_transcript_from_the_archive_byte_for_byte() {
    let world = world();
    let (session, path) = told_and_stopped(&world, "coder", "fox");
    let bytes = lose(&world, &session, &path);
    let found = world.segue(["doctor"]);
    assert!(found.stdout.contains("the archive has it"), "{found:#?}");
    let plan = world.ok(["resume", "coder", "--plan"]);
    assert!(plan.contains("from the archive"), "{plan}");
    assert!(!path.exists(), "a plan changes nothing");
    let report = world.resume(["coder"]);
    report.assert_back("coder", "restored");
    assert!(report.note("coder").contains("archive"), "{report:?}");
    assert!(fs::read(&path).unwrap().starts_with(&bytes));
    assert_eq!(world.session("coder")["vendor_session_id"], session["vendor_session_id"]);
    assert_knows(&world, "coder", "fox");
    let told = told_events(&world, "coder", "transcript_restored");
    assert!(told.len() == 1 && told[0].contains("from the archive"), "{told:?}");
}

#[test]
fn headless_resume_and_send_restore_a_deleted_transcript_from_the_archive() {
    let world = world();
    world.ok(["run", "--headless", "--name", "coder", "remember the word fox"]);
    let session = world.session("coder");
    let path = transcript(&world, &session);
    archive::wait_kept(&world, &session, &path);
    launches::wait_guarded(&world, &session);
    let bytes = lose(&world, &session, &path);
    world.resume(["coder"]).assert_back("coder", "restored");
    assert_eq!(fs::read(&path).unwrap(), bytes, "nothing was started, and nothing added");
    lose(&world, &session, &path);
    let answer = world.ok(["send", "coder", "--wait", "what is the word?"]);
    assert!(answer.contains("The word is fox."), "{answer}");
    assert!(fs::read(&path).unwrap().starts_with(&bytes));
}

#[test]
fn transcript_deleted_while_its_agent_ran_is_restored_after_a_crash() {
    let world = world();
    let session = told(&world, "coder", "fox");
    let path = transcript(&world, &session);
    archive::wait_kept(&world, &session, &path);
    let bytes = lose(&world, &session, &path);
    world.kill_everything();
    world.resume(["coder"]).assert_back("coder", "restored");
    assert!(fs::read(&path).unwrap().starts_with(&bytes));
    assert_knows(&world, "coder", "fox");
}

#[test]
fn each_turn_is_appended_to_the_same_archive_copy() {
    let world = world();
    let session = told(&world, "coder", "fox");
    let path = transcript(&world, &session);
    for question in ["hello", "how many?"] {
        conversation::ask(&world, &session, question);
        archive::wait_kept(&world, &session, &path);
    }
    assert_eq!(archive::lengths(&world, &session), [fs::metadata(&path).unwrap().len()]);
}

#[test]
fn next_daemon_archives_a_conversation_that_the_archive_lacks() {
    let world = world();
    let (session, path) = told_and_stopped(&world, "coder", "fox");
    world.ok(["daemon", "stop"]);
    archive::remove_all(&world);
    world.ok(["ls"]);
    archive::wait_kept(&world, &session, &path);
}

#[test]
fn rewritten_transcript_is_resumed_and_archived_beside_the_older_copy() {
    let world = world();
    let (session, path) = told_and_stopped(&world, "coder", "fox");
    let before = fs::read(&path).unwrap();
    let other = String::from_utf8(before.clone()).unwrap().replace("fox", "owl-of-the-night");
    fs::write(&path, &other).unwrap();
    world.resume(["coder"]).assert_back("coder", "resumed");
    assert_knows(&world, "coder", "owl-of-the-night");
    world.ok(["stop", "coder"]);
    archive::wait_kept(&world, &session, &path);
    let lengths = archive::lengths(&world, &session);
    assert_eq!(lengths.len(), 2, "both are kept");
    assert_eq!(lengths[0], before.len() as u64);
    let newest = lose(&world, &session, &path);
    world.resume(["coder"]).assert_back("coder", "restored");
    assert!(fs::read(&path).unwrap().starts_with(&newest), "the newest comes back");
}

#[test]
fn resume_does_not_overwrite_an_existing_file_with_the_archived_transcript() {
    let world = world();
    let (session, path) = told_and_stopped(&world, "coder", "fox");
    lose(&world, &session, &path);
    fs::write(&path, "").unwrap();
    let report = world.resume(["coder"]);
    report.assert_not_back("coder", "refused");
    assert!(report.note("coder").contains("is there, and is not replaced"), "{report:#?}");
    assert_eq!(fs::read(&path).unwrap(), b"");
    fs::remove_file(&path).unwrap();
    world.resume(["coder"]).assert_back("coder", "restored");
}

#[test]
fn agent_with_archive_false_is_not_archived() {
    let world = world();
    project(&world, "shop", &["secret", "open"]);
    let file = fs::read_to_string(world.project().join("segue.toml")).unwrap();
    let off = file.replace("name = \"secret\"\n", "name = \"secret\"\narchive = false\n");
    world.write("segue.toml", &off);
    world.ok(["trust", "--yes"]);
    world.ok(["up"]);
    segue_testkit::scene::wait_all_told(&world);
    let (secret, open) = (world.session("secret"), world.session("open"));
    let (path, other) = (transcript(&world, &secret), transcript(&world, &open));
    world.ok(["stop", "--all"]);
    archive::wait_kept(&world, &open, &other);
    assert_eq!(archive::record(&world, &secret), None);
    let bytes = lose(&world, &secret, &path);
    world.resume(["secret"]).assert_not_back("secret", "refused");
    fs::write(&path, bytes).unwrap();
    // From now on `secret` is archived and `open` is not.
    let other = file.replace("name = \"open\"\n", "name = \"open\"\narchive = false\n");
    world.write("segue.toml", &other);
    world.ok(["trust", "--yes"]);
    world.ok(["up", "--stopped"]);
    let before = archive::lengths(&world, &open);
    for name in ["secret", "open"] {
        conversation::ask(&world, &world.session(name), "hello");
    }
    world.ok(["stop", "--all"]);
    archive::wait_kept(&world, &secret, &path);
    assert_eq!(archive::lengths(&world, &open), before);
}

#[test]
fn rm_keeps_the_archived_conversation_and_rm_purge_deletes_it() {
    let world = world();
    let (kept, _) = told_and_stopped(&world, "kept", "fox");
    let (purged, path) = told_and_stopped(&world, "purged", "owl");
    world.ok(["rm", "kept", "--yes"]);
    world.ok(["rm", "purged", "--purge", "--yes"]);
    assert!(archive::record(&world, &kept).is_some());
    assert_eq!(archive::record(&world, &purged), None);
    assert!(!path.exists());
    let vendor = archive::folder(&world).join("demo");
    assert_eq!(segue_testkit::scene::names(&vendor), [text(&kept, "vendor_session_id")]);
}

#[test]
fn archive_over_its_limit_drops_the_oldest_first_and_keeps_live_sessions() {
    let world = world();
    let (nobodys, _) = told_and_stopped(&world, "nobodys", "fox");
    world.ok(["rm", "nobodys", "--yes"]);
    let (old, _) = told_and_stopped(&world, "old", "owl");
    let alive = told(&world, "alive", "elk");
    archive::wait_kept(&world, &alive, &transcript(&world, &alive));
    let report = world.ok(["doctor"]);
    assert!(report.contains("the archive has 3 conversations"), "{report}");
    assert!(report.contains("and may have 10 GB"), "{report}");
    fs::write(world.segue_home().join("config.toml"), "archive_limit = \"1 B\"\n").unwrap();
    let mut events = segue_testkit::events::Events::of(&world);
    conversation::ask(&world, &alive, "hello");
    for gone in [&nobodys, &old] {
        let id = text(gone, "vendor_session_id");
        segue_testkit::scene::wait_event(&mut events, "archive_dropped", &format!("demo's {id}"));
        assert_eq!(archive::record(&world, gone), None);
    }
    archive::wait_kept(&world, &alive, &transcript(&world, &alive));
    let report = world.segue(["doctor"]).stdout;
    assert!(report.contains("the archive has 1 conversation in"), "{report}");
    assert!(report.contains("archive_limit"), "the remedy is missing: {report}");
}

#[test]
fn show_and_handoff_read_a_conversation_that_only_the_archive_has() {
    let world = world();
    let (session, path) = told_and_stopped(&world, "coder", "fox");
    lose(&world, &session, &path);
    for _twice in 0..2 {
        let shown = world.ok(["show", "coder"]);
        assert!(shown.contains("remember the word fox"), "{shown}");
    }
    assert!(!path.exists(), "it was only read");
    let report = world.json(["handoff", "coder", "--to", "demo", "--json"]);
    assert_eq!(report["mode"], "native", "{report:#}");
    assert_knows(&world, "coder-demo", "fox");
    let readings = world.state().join("readings");
    assert_eq!(fs::read_dir(&readings).unwrap().count(), 1);
    world.ok(["daemon", "stop"]);
    world.ok(["ls"]);
    assert!(!readings.exists(), "the extracted copy outlived its daemon");
}

/// Flips a bit in the copy of a session's transcript.
fn damage(world: &World, session: &Value) {
    let record = archive::record(world, session).unwrap();
    let file = record["streams"][0]["file"].as_str().unwrap();
    let folders = |path: PathBuf| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut copies = folders(archive::folder(world)).flat_map(folders).map(|it| it.join(file));
    let copy = copies.find(|path| path.exists()).unwrap();
    let mut bytes = fs::read(&copy).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(copy, bytes).unwrap();
}

#[test]
fn doctor_finds_a_damaged_copy_and_makes_a_new_one_from_the_transcript_or_the_guard() {
    for (from, is_lost) in [("its transcript", false), ("its guard", true)] {
        let world = world();
        let (session, path) = told_and_stopped(&world, "coder", "fox");
        let bytes = fs::read(&path).unwrap();
        if is_lost {
            fs::remove_file(&path).unwrap();
        }
        damage(&world, &session);
        let found = world.segue(["doctor"]);
        assert_eq!(found.status, 1, "{found:#?}");
        let id = text(&session, "vendor_session_id");
        let what = format!("the archive's copy of `default/coder` (demo:{id})");
        let cure = format!("make a new copy from {from}: `segue doctor --fix`");
        for part in [what.as_str(), "is damaged", &cure] {
            assert!(found.stdout.contains(part), "{found:#?}");
        }
        let fixed = world.segue(["doctor", "--fix"]);
        assert!(fixed.stdout.contains("the damaged one is `"), "{fixed:#?}");
        let aside = fixed.stdout.split("the damaged one is `").nth(1).unwrap();
        assert!(PathBuf::from(aside.split('`').next().unwrap()).is_dir(), "{fixed:#?}");
        if !is_lost {
            assert!(world.ok(["doctor"]).starts_with("nothing is wrong\n"));
            lose(&world, &session, &path);
        }
        launches::remove_guards(&world, &session);
        world.resume(["coder"]).assert_back("coder", "restored");
        assert!(fs::read(&path).unwrap().starts_with(&bytes), "not the original bytes");
        assert_knows(&world, "coder", "fox");
    }
}

#[test]
fn doctor_keeps_a_damaged_copy_in_place_if_nothing_else_has_the_conversation() {
    let world = world();
    let (session, path) = told_and_stopped(&world, "coder", "fox");
    damage(&world, &session);
    lose(&world, &session, &path);
    let before = archive::records(&world);
    let fixed = world.segue(["doctor", "--fix"]);
    assert_eq!(fixed.status, 1, "{fixed:#?}");
    assert!(fixed.stdout.contains("nothing else has the conversation"), "{fixed:#?}");
    assert_eq!(archive::records(&world), before);
}
