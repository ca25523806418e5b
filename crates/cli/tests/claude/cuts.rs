//! Kills in the middle of something.

use std::fs;
use std::io::Write as _;

use segue_testkit::scene::process;
use segue_testkit::{isolated, launches, processes};
use serde_json::Value;

use crate::{Stage, nudges, records, transcripts};

#[test]
fn a_turn_that_was_cut_in_mid_stream_is_nudged_once() {
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
fn a_headless_turn_that_was_cut_goes_on() {
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
fn a_tool_is_gone_when_its_agent_was_killed() {
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
fn a_torn_last_line_is_mended_before_the_resume() {
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
        assert_eq!(text.lines().skip(whole + 1).find(broken), None, "a record was glued to it");
        assert_eq!(text.lines().filter(broken).count(), 1);
    });
}

#[test]
fn killed_before_the_first_word_it_is_told_its_message_again_once() {
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
