//! Kills in the middle of a turn, of a tool call, of a write and of a start.

use std::fs;
use std::io::Write as _;

use segue_testkit::scene::process;
use segue_testkit::{isolated, launches, processes};
use serde_json::Value;

use crate::{Stage, nudges, records, transcripts};

#[test]
fn turn_killed_in_mid_stream_is_nudged_once_after_the_resume() {
    isolated(|| {
        let stage = Stage::new();
        stage.start("coder", "ALPHA [[hold: door]]");
        stage.model.wait_held("door");
        stage.wait_spoke("coder");
        stage.world.kill_everything();

        stage.world.resume(["--all"]).assert_back("coder", "resumed");
        let nudged = stage.model.wait_answered("started again");
        assert_eq!(nudged.user_texts()[0], "ALPHA [[hold: door]]");
        assert_eq!(nudges(&nudged), 1);
        stage.wait_answers("coder", 1);
        stage.wait_idle("coder");
        stage.world.kill_everything();
        stage.world.resume(["--all"]).assert_back("coder", "resumed");
        stage.wait_idle("coder");
        let next = stage.ask("coder", "and now?");
        assert_eq!(nudges(&next), 1, "an idle agent is not nudged: {:?}", next.user_texts());
    });
}

#[test]
fn killed_headless_turn_continues_after_the_resume() {
    isolated(|| {
        let stage = Stage::new();
        let [vendor, claude] = ["--vendor", "claude"];
        let message = "ALPHA [[hold: door]]";
        let run = ["run", "--headless", "--name", "coder", vendor, claude, message];
        let mut command = stage.world.start(run);
        stage.model.wait_held("door");
        stage.wait_spoke("coder");
        stage.world.kill_everything();
        command.wait().unwrap();
        stage.world.resume(["--all"]).assert_back("coder", "resumed");
        let nudged = stage.model.wait_answered("started again");
        assert_eq!(nudged.user_texts()[0], message);
        assert_eq!(nudges(&nudged), 1);
        stage.wait_idle("coder");
    });
}

#[test]
fn tool_process_is_killed_when_its_agent_is_killed() {
    isolated(|| {
        let stage = Stage::new();
        stage.start("coder", "ALPHA [[tool: echo $$ > pid; exec sleep 987]]");
        let folder = stage.world.project();
        let pid = || fs::read_to_string(folder.join("pid")).ok()?.trim().parse::<u32>().ok();
        launches::wait_until(&[&folder], "the tool", || pid().is_some());
        let session = stage.wait_spoke("coder");
        processes::kill(process(&session, "pid"));
        let nudged = stage.model.wait_answered("started again");
        assert_eq!(nudges(&nudged), 1);
        let sleeping = |pid: &u32| processes::command_line(*pid).contains(&"987".to_owned());
        let left: Vec<u32> = stage.world.processes().into_iter().filter(sleeping).collect();
        assert!(left.is_empty(), "{left:?}");
        stage.wait_answers("coder", 1);
        assert_eq!(stage.wait_idle("coder")["launches"], 2);
    });
}

#[test]
fn partial_last_line_is_terminated_before_the_resume() {
    isolated(|| {
        let stage = Stage::new();
        let session = stage.told("coder", "remember ALPHA");
        stage.world.kill_everything();
        let path = stage.transcript(&session);
        let whole = fs::read_to_string(&path).unwrap().lines().count();
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(br#"{"parentUuid":"b0505098","type":"user","mess"#).unwrap();

        stage.world.resume(["--all"]).assert_back("coder", "resumed");
        stage.wait_idle("coder");
        stage.assert_carries("coder", &["remember ALPHA"], "what was it?");
        stage.wait_answers("coder", 2);
        let text = fs::read_to_string(&path).unwrap();
        let broken = |line: &&str| serde_json::from_str::<Value>(line).is_err();
        assert_eq!(text.lines().skip(whole + 1).find(broken), None, "on the partial line");
        assert_eq!(text.lines().filter(broken).count(), 1);
    });
}

#[test]
fn kill_before_the_transcript_exists_sends_the_first_message_again_once() {
    isolated(|| {
        let stage = Stage::new();
        stage.start("coder", "remember ALPHA");
        stage.world.kill_everything();
        assert!(transcripts(&stage.world).is_empty(), "it was too fast for this test");
        let id = stage.world.session("coder")["vendor_session_id"].clone();
        let report = stage.world.resume(["coder"]);
        report.assert_back("coder", "started");
        let session = stage.wait_told("coder", "remember ALPHA");
        assert_eq!(session["vendor_session_id"], id);
        assert_eq!(stage.model.conversations().len(), 1);
        let said = |it: &&Value| it["type"] == "user" && it["isMeta"] != true;
        assert_eq!(records(&stage.transcript(&session)).iter().filter(said).count(), 1);
    });
}
