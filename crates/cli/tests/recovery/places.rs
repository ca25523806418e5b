//! Folders that go away, hide behind links, or have unusual names.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use segue_testkit::scene::{assert_knows, text, told};
use segue_testkit::{Outcome, World, conversation};
use serde_json::Value;

use crate::world;

#[test]
fn a_folder_that_is_gone_is_a_refusal_until_it_is_back() {
    let world = world();
    let session = told(&world, "coder", "fox");
    world.kill_everything();
    let away = world.root().join("away");
    fs::rename(world.project(), &away).unwrap();
    let mut resume = world.command(["resume", "--all", "--json"]);
    let outcome = Outcome::of(resume.current_dir(world.root()));
    let report = segue_testkit::Report::of(&outcome);
    report.assert_not_back("coder", "refused");
    let folder = text(&session, "cwd");
    for said in ["the folder it works in is gone from its place", folder] {
        assert!(report.note("coder").contains(said), "{said}: {report:#?}");
    }
    fs::rename(&away, world.project()).unwrap();
    assert_eq!(world.session("coder")["launches"], 1);
    world.resume(["--all"]).assert_back("coder", "resumed");
    assert_knows(&world, "coder", "fox");
}

#[test]
fn a_folder_that_was_moved_and_left_a_link_behind_is_not_the_same_place() {
    let world = world();
    told(&world, "coder", "fox");
    world.kill_everything();
    let moved = world.root().join("moved");
    fs::rename(world.project(), &moved).unwrap();
    symlink(&moved, world.project()).unwrap();
    let report = world.resume(["coder"]);
    report.assert_not_back("coder", "refused");
    assert!(report.note("coder").contains("is gone"), "{report:#?}");
    assert_eq!(world.session("coder")["launches"], 1, "it was started where its words are not");
}

/// Runs, kills and resumes a session in a folder, from that folder.
fn survives_in(world: &World, folder: &Path, name: &str) -> Value {
    let mut run = world.command(["run", "-d", "--name", name, "remember the word fox"]);
    let outcome = Outcome::of(run.current_dir(folder));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    let session = world.session(name);
    assert_eq!(text(&session, "cwd"), folder.canonicalize().unwrap().to_str().unwrap());
    conversation::wait_turns(world, &session, 1);
    world.kill_everything();
    let mut resume = world.command(["resume", "--json"]);
    let outcome = Outcome::of(resume.current_dir(folder));
    segue_testkit::Report::of(&outcome).assert_back(name, "resumed");
    assert_knows(world, name, "fox");
    session
}

#[test]
fn a_folder_behind_a_link_is_the_folder_itself() {
    let world = world();
    let link = world.root().join("link");
    symlink(world.project(), &link).unwrap();
    let session = survives_in(&world, &link, "linked");
    assert_eq!(text(&session, "cwd"), world.project().canonicalize().unwrap().to_str().unwrap());
    // The same place by its other name is the same place.
    world.kill_everything();
    world.resume([]).assert_back("linked", "resumed");
    let mut run = world.command(["run", "-d", "--name", "given", "--cwd"]);
    let outcome =
        Outcome::of(run.arg(&link).arg("remember the word owl").current_dir(world.home()));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    assert_eq!(world.session("given")["cwd"], session["cwd"]);
}

#[test]
fn a_folder_may_have_any_name() {
    let world = world();
    for (number, folder) in
        ["with spaces and 'quotes\"", "größe-日本語-🦊", "-leading", "new\nline"]
            .into_iter()
            .enumerate()
    {
        let folder = world.root().join(folder);
        fs::create_dir(&folder).unwrap();
        survives_in(&world, &folder, &format!("s{number}"));
    }
    // Two folders that share one folder of transcripts do not meet.
    assert_eq!(world.sessions().len(), 4);
}

#[test]
fn two_folders_whose_transcripts_are_kept_together_do_not_meet() {
    let world = world();
    let (one, two) = (world.root().join("a.b"), world.root().join("a_b"));
    let sessions = [(&one, "one"), (&two, "two")].map(|(folder, name)| {
        fs::create_dir(folder).unwrap();
        survives_in(&world, folder, name)
    });
    let paths = sessions
        .map(|it| conversation::transcript(&world, text(&it, "vendor_session_id")).unwrap());
    assert_eq!(paths[0].parent(), paths[1].parent(), "they are not kept together");
}
