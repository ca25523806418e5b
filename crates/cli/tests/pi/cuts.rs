//! Kills in the middle of a turn, of a tool call, of a write and of a start.

use std::fs;
use std::io::Write as _;

use segue_testkit::hold::kill_both_at;
use segue_testkit::scene::process;
use segue_testkit::{isolated, launches, processes};
use serde_json::Value;

use segue_testkit::acting::nudges;

use crate::{Scenery, transcripts};

#[test]
fn killed_first_turn_is_in_the_transcript_and_nudged_once() {
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
        assert_eq!((nudged.user_texts().len(), nudges(&nudged)), (2, 1));
        scenery.wait_idle("coder");
        scenery.world.kill_everything();
        scenery.world.resume(["--all"]).assert_back("coder", "resumed");
        let next = scenery.ask("coder", "and now?");
        assert_eq!(nudges(&next), 1, "an idle agent is not nudged: {:?}", next.user_texts());
    });
}

/// Pi writes no transcript of a conversation that it started itself until its first answer.
#[test]
fn killed_first_turn_without_a_transcript_is_sent_again_once() {
    isolated(|| {
        let scenery = Scenery::new();
        let before = scenery.told("coder", "remember ALPHA");
        scenery.begin_another("coder", &before);
        let mut send = scenery.world.start(["send", "coder", "BETA [[hold: door]]"]);
        scenery.model.wait_held("door");
        assert_eq!(transcripts(scenery.home.folder()), [scenery.transcript(&before)]);
        scenery.world.kill_everything();
        send.wait().unwrap();
        scenery.model.release("door");

        scenery.world.resume(["--all"]).assert_back("coder", "started");
        let again = scenery.model.wait_answered("BETA");
        assert_eq!(again.user_texts(), ["BETA [[hold: door]]"]);
        scenery.assert_carries("coder", &["BETA [[hold: door]]"], "and now?");
        assert_eq!(scenery.model.conversations().len(), 4, "{:#?}", scenery.model.exchanges());
    });
}

#[test]
fn killed_headless_first_turn_continues_after_the_resume() {
    isolated(|| {
        let scenery = Scenery::new();
        let words = ["run", "--headless", "--vendor", "pi", "--name", "coder"];
        let [a, b, c, d, e, f] = words;
        let mut turn = scenery.world.start([a, b, c, d, e, f, "ALPHA [[hold: door]]"]);
        scenery.model.wait_held("door");
        scenery.wait_spoke("coder");
        scenery.world.kill_everything();
        assert!(!turn.wait().unwrap().success());
        scenery.world.resume(["--all"]).assert_back("coder", "resumed");
        let nudged = scenery.model.wait_answered("started again");
        assert_eq!(nudged.user_texts()[0], "ALPHA [[hold: door]]");
        assert_eq!(nudged.user_texts().len(), 2);
        scenery.wait_idle("coder");
    });
}

#[test]
fn kill_before_the_first_turn_restarts_with_the_same_vendor_session_id() {
    isolated(|| {
        let mut scenery = Scenery::new();
        let run = ["run", "-d", "--name", "coder", "--vendor", "pi", "remember ALPHA"];
        kill_both_at(&mut scenery.world, "launch.files.after", |world| world.start(run));
        scenery.world.kill_everything();
        let before = scenery.world.session("coder");
        scenery.transcript(&before);
        scenery.world.resume(["coder"]);
        let first = scenery.model.wait_answered("remember ALPHA");
        assert_eq!(first.user_texts(), ["remember ALPHA"]);
        let back = scenery.wait_idle("coder");
        assert_eq!(back["vendor_session_id"], before["vendor_session_id"]);
        assert_eq!(scenery.model.conversations().len(), 1);
    });
}

#[test]
fn tool_process_is_killed_when_its_agent_is_killed() {
    isolated(|| {
        let scenery = Scenery::new();
        scenery.start("coder", "ALPHA [[tool: echo $$ > pid; exec sleep 987]]");
        let folder = scenery.world.project();
        let pid = || fs::read_to_string(folder.join("pid")).ok()?.trim().parse::<u32>().ok();
        launches::wait_until(&[&folder], "the tool", || pid().is_some());
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

/// If the partial line stayed as it is, the second resume would lose the whole conversation.
#[test]
fn partial_last_line_loses_nothing_at_the_first_and_second_resume() {
    isolated(|| {
        let scenery = Scenery::new();
        let session = scenery.told("coder", "remember ALPHA");
        scenery.world.kill_everything();
        let path = scenery.transcript(&session);
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(br#"{"type":"message","id":"0a0b0c0d","par"#).unwrap();
        // The test keeps the file open. A process that merely has a transcript open does not count
        // as a process that uses the conversation.
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["remember ALPHA"], "which word?");
        scenery.wait_idle("coder");
        scenery.world.kill_everything();
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["remember ALPHA", "which word?"], "and now?");
        let transcript = fs::read_to_string(&path).unwrap();
        let is_broken = |line: &&str| serde_json::from_str::<Value>(line).is_err();
        assert_eq!(transcript.lines().filter(is_broken).count(), 1);
    });
}
