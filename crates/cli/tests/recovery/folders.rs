//! Folders that are moved away, are symlinks, or have unusual names.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use segue_testkit::scene::{assert_knows, start_with_word, text};
use segue_testkit::{CommandOutcome, World, conversation};
use serde_json::Value;

use crate::world;

#[test]
fn resume_is_refused_while_the_folder_is_missing() {
    let world = world();
    let session = start_with_word(&world, "coder", "fox");
    world.kill_everything();
    let away = world.root().join("away");
    fs::rename(world.project(), &away).unwrap();
    let mut resume = world.command(["resume", "--all", "--json"]);
    let outcome = CommandOutcome::of(resume.current_dir(world.root()));
    let report = segue_testkit::Report::of(&outcome);
    report.assert_not_back("coder", "refused");
    let folder = text(&session, "cwd");
    for part in ["the folder it works in is gone from its place", folder] {
        assert!(report.note("coder").contains(part), "{part}: {report:#?}");
    }
    fs::rename(&away, world.project()).unwrap();
    assert_eq!(world.session("coder")["launches"], 1);
    world.resume(["--all"]).assert_back("coder", "resumed");
    assert_knows(&world, "coder", "fox");
}

#[test]
fn resume_is_refused_if_the_folder_was_moved_and_replaced_by_a_symlink() {
    let world = world();
    start_with_word(&world, "coder", "fox");
    world.kill_everything();
    let moved = world.root().join("moved");
    fs::rename(world.project(), &moved).unwrap();
    symlink(&moved, world.project()).unwrap();
    let report = world.resume(["coder"]);
    report.assert_not_back("coder", "refused");
    assert!(report.note("coder").contains("is gone"), "{report:#?}");
    assert_eq!(world.session("coder")["launches"], 1, "started in the wrong folder");
}

/// Starts, kills and resumes a session in a folder, with commands that run in that folder. Returns the
/// session.
fn assert_resumes_in(world: &World, folder: &Path, name: &str) -> Value {
    let mut run = world.command(["run", "-d", "--name", name, "remember the word fox"]);
    let outcome = CommandOutcome::of(run.current_dir(folder));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    let session = world.session(name);
    assert_eq!(text(&session, "cwd"), folder.canonicalize().unwrap().to_str().unwrap());
    conversation::wait_turns(world, &session, 1);
    world.kill_everything();
    let mut resume = world.command(["resume", "--json"]);
    let outcome = CommandOutcome::of(resume.current_dir(folder));
    segue_testkit::Report::of(&outcome).assert_back(name, "resumed");
    assert_knows(world, name, "fox");
    session
}

#[test]
fn symlinked_folder_is_recorded_by_its_real_path() {
    let world = world();
    let link = world.root().join("link");
    symlink(world.project(), &link).unwrap();
    let session = assert_resumes_in(&world, &link, "linked");
    assert_eq!(text(&session, "cwd"), world.project().canonicalize().unwrap().to_str().unwrap());
    // The real path and the symlink are the same folder.
    world.kill_everything();
    world.resume([]).assert_back("linked", "resumed");
    let mut run = world.command(["run", "-d", "--name", "given", "--cwd"]);
    let outcome =
        CommandOutcome::of(run.arg(&link).arg("remember the word owl").current_dir(world.home()));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    assert_eq!(world.session("given")["cwd"], session["cwd"]);
}

#[test]
fn session_resumes_in_a_folder_with_an_unusual_name() {
    let world = world();
    for (number, folder) in
        ["with spaces and 'quotes\"", "größe-日本語-🦊", "-leading", "new\nline"]
            .into_iter()
            .enumerate()
    {
        let folder = world.root().join(folder);
        fs::create_dir(&folder).unwrap();
        assert_resumes_in(&world, &folder, &format!("s{number}"));
    }
    // Each folder has a session of its own.
    assert_eq!(world.sessions().len(), 4);
}

#[test]
fn two_folders_that_share_a_transcript_folder_resume_their_own_conversations() {
    let world = world();
    let (one, two) = (world.root().join("a.b"), world.root().join("a_b"));
    let sessions = [(&one, "one"), (&two, "two")].map(|(folder, name)| {
        fs::create_dir(folder).unwrap();
        assert_resumes_in(&world, folder, name)
    });
    let paths = sessions
        .map(|it| conversation::transcript(&world, text(&it, "vendor_session_id")).unwrap());
    assert_eq!(paths[0].parent(), paths[1].parent(), "different transcript folders");
}
