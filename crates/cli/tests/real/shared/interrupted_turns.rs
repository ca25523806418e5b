//! Kills in the middle of a turn, of a tool call, of a write and of a start.

use std::fs;
use std::io::Write as _;

use segue_testkit::acting::nudges;
use segue_testkit::hold::kill_both_at;
use segue_testkit::vendor_scene::PinnedVendor;
use segue_testkit::{launches, processes};
use serde_json::Value;

use super::facts::PartialRecord;
use crate::scene;

fn turn_killed_in_mid_stream_is_nudged_once_after_the_resume<V: PinnedVendor>() {
    let scene = scene::<V>();
    scene.start("coder", "ALPHA [[hold: door]]");
    scene.model.wait_held("door");
    scene.wait_session("coder", |session| session["status"] == "working");
    scene.wait_has_content("coder");
    scene.world.kill_everything();

    scene.world.resume(["--all"]).assert_back("coder", "resumed");
    let nudged = scene.model.wait_answered("started again");
    assert_eq!(nudged.user_texts()[0], "ALPHA [[hold: door]]");
    assert_eq!((nudged.user_texts().len(), nudges(&nudged)), (2, 1));
    scene.wait_turns("coder", 1);
    scene.world.kill_everything();
    scene.world.resume(["--all"]).assert_back("coder", "resumed");
    let next = scene.ask_and_wait("coder", "and now?");
    assert_eq!(nudges(&next), 1, "an idle agent is not nudged: {:?}", next.user_texts());
}

test_each!(turn_killed_in_mid_stream_is_nudged_once_after_the_resume: claude, codex, pi);

fn killed_headless_turn_continues_after_the_resume<V: PinnedVendor>() {
    let scene = scene::<V>();
    let message = "ALPHA [[hold: door]]";
    let run = ["run", "--headless", "--vendor", V::NAME, "--name", "coder", message];
    let mut turn = scene.world.start(run);
    scene.model.wait_held("door");
    scene.wait_has_content("coder");
    scene.world.kill_everything();
    assert!(!turn.wait().unwrap().success());
    scene.world.resume(["--all"]).assert_back("coder", "resumed");
    let nudged = scene.model.wait_answered("started again");
    assert_eq!(nudged.user_texts()[0], message);
    assert_eq!((nudged.user_texts().len(), nudges(&nudged)), (2, 1));
    scene.wait_idle("coder");
}

test_each!(killed_headless_turn_continues_after_the_resume: claude, pi);

fn tool_process_is_killed_when_its_agent_is_killed<V: PinnedVendor>() {
    let scene = scene::<V>();
    scene.start("coder", "ALPHA [[tool: echo $$ > pid; exec sleep 987]]");
    let folder = scene.world.project();
    let pid = || fs::read_to_string(folder.join("pid")).ok()?.trim().parse::<u32>().ok();
    launches::wait_until(&[&folder], "the tool", || pid().is_some());
    let session = scene.wait_has_content("coder");
    processes::kill(segue_testkit::scene::pid(&session, "pid"));
    let nudged = scene.model.wait_answered("started again");
    assert_eq!(nudges(&nudged), 1);
    let is_tool = |pid: &u32| processes::command_line(*pid).contains(&"987".to_owned());
    let left: Vec<u32> = scene.world.processes().into_iter().filter(is_tool).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(scene.wait_turns("coder", 1)["launches"], 2);
}

test_each!(tool_process_is_killed_when_its_agent_is_killed: claude, codex, copilot, pi);

/// Pi would lose the whole conversation at the second resume if the partial line stayed as it is.
fn partial_last_line_loses_nothing_at_the_first_and_second_resume<V: PartialRecord>() {
    let scene = scene::<V>();
    let session = scene.start_and_wait("coder", "remember ALPHA");
    scene.world.kill_everything();
    let path = scene.transcript(&session);
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(V::PARTIAL.as_bytes()).unwrap();
    // The test keeps the file open. A process that merely has a transcript open does not count as a
    // process that uses the conversation.
    scene.world.resume(["coder"]).assert_back("coder", "resumed");
    scene.assert_carries("coder", &["remember ALPHA"], "which word?");
    scene.wait_turns("coder", 2);
    scene.world.kill_everything();
    scene.world.resume(["coder"]).assert_back("coder", "resumed");
    scene.assert_carries("coder", &["remember ALPHA", "which word?"], "and now?");
    let transcript = fs::read_to_string(&path).unwrap();
    let is_broken = |line: &&str| serde_json::from_str::<Value>(line).is_err();
    let broken: Vec<&str> = transcript.lines().filter(is_broken).collect();
    assert_eq!(broken, [V::PARTIAL], "the partial line is alone on its line");
}

test_each!(partial_last_line_loses_nothing_at_the_first_and_second_resume: claude, codex, pi);

fn kill_before_the_first_turn_restarts_with_the_same_vendor_session_id<V: PinnedVendor>() {
    let mut scene = scene::<V>();
    let run = ["run", "-d", "--name", "coder", "--vendor", V::NAME, "remember ALPHA"];
    kill_both_at(&mut scene.world, "launch.files.after", |world| world.start(run));
    scene.world.kill_everything();
    let before = scene.world.session("coder");
    // The transcript that Segue prepared exists.
    scene.transcript(&before);
    scene.world.resume(["coder"]);
    let first = scene.model.wait_answered("remember ALPHA");
    assert_eq!(first.user_texts(), ["remember ALPHA"]);
    let back = scene.wait_idle("coder");
    assert_eq!(back["vendor_session_id"], before["vendor_session_id"]);
    assert_eq!(scene.model.conversations().len(), 1);
}

test_each!(kill_before_the_first_turn_restarts_with_the_same_vendor_session_id: codex, pi);
