//! The archive, Segue's own copy of every conversation: which conversations it restores, which it does
//! not get, and which are deleted from it.

use std::fs;
use std::path::PathBuf;

use segue_testkit::events::Events;
use segue_testkit::scene::{
    assert_knows, event_texts, start_with_word, text, transcript, wait_event, wait_first_turns,
    write_agents, write_project,
};
use segue_testkit::{World, archive, conversation, files, launches};
use serde_json::Value;

use crate::world;

/// Starts a session with a word to remember, and stops it. Waits until the archive has the whole
/// conversation. Returns the session and its transcript.
fn stopped_session(world: &World, name: &str, word: &str) -> (Value, PathBuf) {
    let session = start_with_word(world, name, word);
    let path = transcript(world, &session);
    world.ok(["stop", name]);
    archive::wait_archived(world, &session, &path);
    (session, path)
}

/// Deletes a transcript and its guards. Returns the transcript's bytes.
fn delete_transcript(world: &World, session: &Value, path: &PathBuf) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    fs::remove_file(path).unwrap();
    launches::remove_guards(world, session);
    bytes
}

#[test]
fn resume_restores_a_deleted_transcript_from_the_archive_byte_for_byte() {
    let world = world();
    let (session, path) = stopped_session(&world, "coder", "fox");
    let bytes = delete_transcript(&world, &session, &path);
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
    let events = event_texts(&world, "coder", "transcript_restored");
    assert!(events.len() == 1 && events[0].contains("from the archive"), "{events:?}");
}

#[test]
fn headless_resume_and_send_restore_a_deleted_transcript_from_the_archive() {
    let world = world();
    world.ok(["run", "--headless", "--name", "coder", "remember the word fox"]);
    let session = world.session("coder");
    let path = transcript(&world, &session);
    archive::wait_archived(&world, &session, &path);
    launches::wait_guarded(&world, &session);
    let bytes = delete_transcript(&world, &session, &path);
    world.resume(["coder"]).assert_back("coder", "restored");
    assert_eq!(fs::read(&path).unwrap(), bytes, "nothing was started, and nothing added");
    delete_transcript(&world, &session, &path);
    let answer = world.ok(["send", "coder", "--wait", "what is the word?"]);
    assert!(answer.contains("The word is fox."), "{answer}");
    assert!(fs::read(&path).unwrap().starts_with(&bytes));
}

#[test]
fn transcript_deleted_while_its_agent_ran_is_restored_after_a_crash() {
    let world = world();
    let session = start_with_word(&world, "coder", "fox");
    let path = transcript(&world, &session);
    archive::wait_archived(&world, &session, &path);
    let bytes = delete_transcript(&world, &session, &path);
    world.kill_everything();
    world.resume(["coder"]).assert_back("coder", "restored");
    assert!(fs::read(&path).unwrap().starts_with(&bytes));
    assert_knows(&world, "coder", "fox");
}

#[test]
fn each_turn_is_appended_to_the_same_archive_copy() {
    let world = world();
    let session = start_with_word(&world, "coder", "fox");
    let path = transcript(&world, &session);
    for question in ["hello", "how many?"] {
        conversation::ask(&world, &session, question);
        archive::wait_archived(&world, &session, &path);
    }
    assert_eq!(archive::lengths(&world, &session), [fs::metadata(&path).unwrap().len()]);
}

#[test]
fn next_daemon_archives_a_conversation_that_the_archive_lacks() {
    let world = world();
    let (session, path) = stopped_session(&world, "coder", "fox");
    world.ok(["daemon", "stop"]);
    archive::remove_all(&world);
    world.ok(["ls"]);
    archive::wait_archived(&world, &session, &path);
}

#[test]
fn rewritten_transcript_is_resumed_and_archived_beside_the_older_copy() {
    let world = world();
    let (session, path) = stopped_session(&world, "coder", "fox");
    let before = fs::read(&path).unwrap();
    let rewritten = String::from_utf8(before.clone()).unwrap().replace("fox", "owl-of-the-night");
    fs::write(&path, &rewritten).unwrap();
    world.resume(["coder"]).assert_back("coder", "resumed");
    assert_knows(&world, "coder", "owl-of-the-night");
    world.ok(["stop", "coder"]);
    archive::wait_archived(&world, &session, &path);
    let lengths = archive::lengths(&world, &session);
    assert_eq!(lengths.len(), 2, "not both copies are kept");
    assert_eq!(lengths[0], before.len() as u64);
    let newest = delete_transcript(&world, &session, &path);
    world.resume(["coder"]).assert_back("coder", "restored");
    assert!(fs::read(&path).unwrap().starts_with(&newest), "not the newest copy");
}

#[test]
fn resume_does_not_overwrite_an_existing_file_with_the_archived_transcript() {
    let world = world();
    let (session, path) = stopped_session(&world, "coder", "fox");
    delete_transcript(&world, &session, &path);
    fs::write(&path, "").unwrap();
    let report = world.resume(["coder"]);
    report.assert_not_back("coder", "refused");
    assert!(report.note("coder").contains("exists, and Segue does not replace it"), "{report:#?}");
    assert_eq!(fs::read(&path).unwrap(), b"");
    fs::remove_file(&path).unwrap();
    world.resume(["coder"]).assert_back("coder", "restored");
}

#[test]
fn agent_with_archive_false_is_not_archived() {
    let world = world();
    write_agents(&world, "shop", &["secret", "open"]);
    let file = fs::read_to_string(world.project().join("segue.toml")).unwrap();
    let without = |name: &str| {
        let line = format!("name = \"{name}\"\n");
        write_project(&world, &file.replace(&line, &format!("{line}archive = false\n")));
    };
    without("secret");
    world.ok(["up"]);
    wait_first_turns(&world);
    let (secret, open) = (world.session("secret"), world.session("open"));
    let (path, open_path) = (transcript(&world, &secret), transcript(&world, &open));
    world.ok(["stop", "--all"]);
    archive::wait_archived(&world, &open, &open_path);
    assert_eq!(archive::manifest(&world, &secret), None);
    let bytes = delete_transcript(&world, &secret, &path);
    world.resume(["secret"]).assert_not_back("secret", "refused");
    fs::write(&path, bytes).unwrap();
    // From now on `secret` is archived and `open` is not.
    without("open");
    world.ok(["up", "--stopped"]);
    let before = archive::lengths(&world, &open);
    for name in ["secret", "open"] {
        conversation::ask(&world, &world.session(name), "hello");
    }
    world.ok(["stop", "--all"]);
    archive::wait_archived(&world, &secret, &path);
    assert_eq!(archive::lengths(&world, &open), before);
}

#[test]
fn rm_keeps_the_archived_conversation_and_rm_purge_deletes_it() {
    let world = world();
    let (kept, _) = stopped_session(&world, "kept", "fox");
    let (purged, path) = stopped_session(&world, "purged", "owl");
    world.ok(["rm", "kept", "--yes"]);
    world.ok(["rm", "purged", "--purge", "--yes"]);
    assert!(archive::manifest(&world, &kept).is_some());
    assert_eq!(archive::manifest(&world, &purged), None);
    assert!(!path.exists());
    let vendor = archive::folder(&world).join("demo");
    assert_eq!(files::names(&vendor), [text(&kept, "vendor_session_id")]);
}

#[test]
fn archive_over_its_limit_drops_the_oldest_first_and_keeps_live_sessions() {
    let world = world();
    let (removed, _) = stopped_session(&world, "removed", "fox");
    world.ok(["rm", "removed", "--yes"]);
    let (old, _) = stopped_session(&world, "old", "owl");
    let alive = start_with_word(&world, "alive", "elk");
    archive::wait_archived(&world, &alive, &transcript(&world, &alive));
    let report = world.ok(["doctor"]);
    assert!(report.contains("the archive has 3 conversations"), "{report}");
    assert!(report.contains("of at most 10 GB"), "{report}");
    fs::write(world.segue_home().join("config.toml"), "archive_limit = \"1 B\"\n").unwrap();
    let mut events = Events::of(&world);
    conversation::ask(&world, &alive, "hello");
    for dropped in [&removed, &old] {
        let id = text(dropped, "vendor_session_id");
        wait_event(&mut events, "archive_dropped", &format!("demo's {id}"));
        assert_eq!(archive::manifest(&world, dropped), None);
    }
    archive::wait_archived(&world, &alive, &transcript(&world, &alive));
    let report = world.segue(["doctor"]).stdout;
    assert!(report.contains("the archive has 1 conversation in"), "{report}");
    assert!(report.contains("archive_limit"), "the remedy is missing: {report}");
}

#[test]
fn show_and_handoff_read_a_conversation_that_only_the_archive_has() {
    let world = world();
    let (session, path) = stopped_session(&world, "coder", "fox");
    delete_transcript(&world, &session, &path);
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
    let manifest = archive::manifest(world, session).unwrap();
    let file = manifest["streams"][0]["file"].as_str().unwrap();
    let mut copies = files::below(&archive::folder(world)).into_iter();
    let copy = copies.find(|path| path.ends_with(file)).unwrap();
    let mut bytes = fs::read(&copy).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(copy, bytes).unwrap();
}

#[test]
fn doctor_finds_a_damaged_copy_and_makes_a_new_one_from_the_transcript_or_the_guard() {
    for (from, is_lost) in [("its transcript", false), ("its guard", true)] {
        let world = world();
        let (session, path) = stopped_session(&world, "coder", "fox");
        let bytes = fs::read(&path).unwrap();
        if is_lost {
            fs::remove_file(&path).unwrap();
        }
        damage(&world, &session);
        let found = world.segue(["doctor"]);
        assert_eq!(found.status, 1, "{found:#?}");
        let id = text(&session, "vendor_session_id");
        let object = format!("the archive's copy of `default/coder` (demo:{id})");
        let remedy = format!("make a new copy from {from}: `segue doctor --fix`");
        for part in [object.as_str(), "is damaged", &remedy] {
            assert!(found.stdout.contains(part), "{found:#?}");
        }
        let fixed = world.segue(["doctor", "--fix"]);
        assert!(fixed.stdout.contains("the damaged copy is `"), "{fixed:#?}");
        let damaged = fixed.stdout.split("the damaged copy is `").nth(1).unwrap();
        assert!(PathBuf::from(damaged.split('`').next().unwrap()).is_dir(), "{fixed:#?}");
        if !is_lost {
            assert!(world.ok(["doctor"]).starts_with("nothing is wrong\n"));
            delete_transcript(&world, &session, &path);
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
    let (session, path) = stopped_session(&world, "coder", "fox");
    damage(&world, &session);
    delete_transcript(&world, &session, &path);
    let before = archive::manifests(&world);
    let fixed = world.segue(["doctor", "--fix"]);
    assert_eq!(fixed.status, 1, "{fixed:#?}");
    assert!(fixed.stdout.contains("nothing else has the conversation"), "{fixed:#?}");
    assert_eq!(archive::manifests(&world), before);
}
