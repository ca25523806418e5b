//! Kills in the middle of a turn, of a tool call, of a write and of a start.

use std::fs;
use std::io::Write as _;

use segue_testkit::hold::kill_both_at;
use segue_testkit::scene::process;
use segue_testkit::{isolated, processes};

use segue_testkit::acting::nudges;

use crate::Scenery;

#[test]
fn turn_killed_in_mid_stream_is_nudged_once_after_the_resume() {
    isolated(|| {
        let scenery = Scenery::new();
        scenery.start("coder", "ALPHA [[hold: door]]");
        scenery.model.wait_held("door");
        scenery.wait_session("coder", |session| session["status"] == "working");
        scenery.wait_spoke("coder");
        scenery.world.kill_everything();

        scenery.world.resume(["--all"]).assert_back("coder", "resumed");
        let nudged = scenery.model.wait_answered("started again");
        assert_eq!(nudged.user_texts()[0], "ALPHA [[hold: door]]");
        assert_eq!(nudges(&nudged), 1);
        scenery.wait_idle("coder");
        scenery.world.kill_everything();
        scenery.world.resume(["--all"]).assert_back("coder", "resumed");
        let next = scenery.ask("coder", "and now?");
        assert_eq!(nudges(&next), 1, "an idle agent is not nudged: {:?}", next.user_texts());
    });
}

#[test]
fn tool_process_is_killed_when_its_agent_is_killed() {
    isolated(|| {
        let scenery = Scenery::new();
        scenery.start("coder", "ALPHA [[tool: echo $$ > pid; exec sleep 987]]");
        let folder = scenery.world.project();
        let pid = || fs::read_to_string(folder.join("pid")).ok()?.trim().parse::<u32>().ok();
        segue_testkit::launches::wait_until(&[&folder], "the tool", || pid().is_some());
        let session = scenery.wait_spoke("coder");
        processes::kill(process(&session, "pid"));
        let nudged = scenery.model.wait_answered("started again");
        assert_eq!(nudges(&nudged), 1);
        let sleeping = |pid: &u32| processes::command_line(*pid).contains(&"987".to_owned());
        let left: Vec<u32> = scenery.world.processes().into_iter().filter(sleeping).collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(scenery.wait_idle("coder")["launches"], 2);
    });
}

#[test]
fn partial_last_line_is_terminated_before_the_resume() {
    isolated(|| {
        let scenery = Scenery::new();
        let session = scenery.told("coder", "remember ALPHA");
        scenery.world.kill_everything();
        let path = scenery.rollout(&session);
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(br#"{"timestamp":"2026-11-16T00:15:01.654Z","type":"resp"#).unwrap();
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["remember ALPHA"], "which word?");
        let rollout = fs::read_to_string(&path).unwrap();
        let broken: Vec<&str> = rollout
            .lines()
            .filter(|line| serde_json::from_str::<serde_json::Value>(line).is_err())
            .collect();
        assert_eq!(broken.len(), 1, "{broken:?}");
    });
}

#[test]
fn kill_before_the_first_turn_restarts_with_the_same_vendor_session_id() {
    isolated(|| {
        let mut scenery = Scenery::new();
        let run = ["run", "-d", "--name", "coder", "--vendor", "codex", "remember ALPHA"];
        kill_both_at(&mut scenery.world, "launch.files.after", |world| world.start(run));
        scenery.world.kill_everything();
        let before = scenery.world.session("coder");
        scenery.rollout(&before);
        scenery.world.resume(["coder"]);
        let first = scenery.model.wait_answered("remember ALPHA");
        assert_eq!(first.user_texts(), ["remember ALPHA"]);
        let back = scenery.wait_idle("coder");
        assert_eq!(back["vendor_session_id"], before["vendor_session_id"]);
        assert_eq!(scenery.model.conversations().len(), 1);
    });
}
