//! A conversation keeps one id, whatever happens.

use std::collections::BTreeSet;
use std::process::Child;

use segue_testkit::events::Events;
use segue_testkit::scene::{
    assert_knows, finish, kill_daemon, pid, pids_running, start_with_word, text, transcript,
    wait_event,
};
use segue_testkit::{World, conversation, launches, processes};
use serde_json::Value;

use crate::world;

#[test]
fn two_messages_in_one_conversation_keep_the_recorded_ids() {
    let world = world();
    let first = start_with_word(&world, "coder", "fox");
    conversation::ask(&world, &first, "hello again");
    let second = world.session("coder");
    assert_eq!(
        (&second["id"], &second["vendor_session_id"]),
        (&first["id"], &first["vendor_session_id"])
    );
    assert_eq!(
        conversation::user_messages(&transcript(&world, &second)),
        ["remember the word fox", "hello again"]
    );
    let (_, record) = launches::newest(&world, &second);
    assert_eq!(record.session_id.unwrap().as_str(), text(&second, "vendor_session_id"));
}

#[test]
fn session_killed_in_the_middle_of_a_turn_resumes_with_the_same_ids() {
    let world = world();
    let before = start_with_word(&world, "coder", "fox");
    let mut events = Events::of(&world);
    conversation::type_text(&world, &before, "/slow 600\r");
    wait_event(&mut events, "status_changed", "idle");
    wait_event(&mut events, "status_changed", "working");
    drop(events);
    assert_eq!(world.session("coder")["status"], "working");
    world.kill_everything();
    let report = world.resume([]);
    report.assert_back("coder", "resumed");
    let after = world.session("coder");
    for key in ["id", "name", "fleet", "vendor_session_id", "created_at"] {
        assert_eq!(after[key], before[key], "{key}");
    }
    assert_eq!(world.sessions().len(), 1);
    // The agent gets one nudge, because its turn was interrupted.
    conversation::wait_turns(&world, &after, 2);
    let received = conversation::user_messages(&transcript(&world, &after));
    assert_eq!(received[..2], ["remember the word fox", "/slow 600"]);
    assert_eq!(received.len(), 3, "{received:?}");
    assert!(received[2].contains("in the middle of this turn"), "{received:?}");
    assert_knows(&world, "coder", "fox");
    // This time the agent was idle, so it gets no nudge.
    world.kill_everything();
    world.resume([]).assert_back("coder", "resumed");
    assert_knows(&world, "coder", "fox");
    let received = conversation::user_messages(&transcript(&world, &after));
    assert_eq!(received.len(), 5, "{received:?}");
}

#[test]
fn ids_stay_the_same_after_a_stop_kills_and_a_rebuilt_store() {
    let world = world();
    let first = start_with_word(&world, "coder", "fox");
    let ids = |session: &Value| [session["id"].clone(), session["vendor_session_id"].clone()];
    let disturbances: [fn(&World); 5] = [
        |world| drop(world.ok(["stop", "coder"])),
        World::kill_everything,
        kill_daemon,
        |world| {
            world.ok(["daemon", "stop"]);
            std::fs::remove_file(world.database()).unwrap();
            world.ok(["doctor", "--fix"]);
        },
        |world| {
            let mut events = Events::of(world);
            processes::kill(pid(&world.session("coder"), "pid"));
            wait_event(&mut events, "launch_ended", "signal 9");
            wait_event(&mut events, "launch_planned", "");
            wait_event(&mut events, "bound", "");
        },
    ];
    for (number, disturb) in disturbances.into_iter().enumerate() {
        disturb(&world);
        let report = world.resume(["coder"]);
        assert_eq!(
            (report.status, &report.json["complete"]),
            (0, &Value::Bool(true)),
            "{report:#?}"
        );
        assert_eq!(ids(&world.session("coder")), ids(&first), "after disturbance {number}");
        assert_knows(&world, "coder", "fox");
    }
}

#[test]
fn concurrent_runs_share_no_id_and_concurrent_resumes_start_each_agent_once() {
    let world = world();
    let names: Vec<String> = (0..6).map(|number| format!("s{number}")).collect();
    let message = "remember the word fox";
    let run = |name: &String| world.start(["run", "-d", "--name", name, message]);
    let running: Vec<_> = names.iter().map(run).collect();
    running.into_iter().for_each(assert_succeeds);
    let sessions = world.sessions();
    for key in ["id", "name", "vendor_session_id"] {
        let different: BTreeSet<&str> = sessions.iter().map(|it| text(it, key)).collect();
        assert_eq!(different.len(), 6, "{key}");
    }
    world.kill_everything();
    let resumes = [(); 2].map(|()| world.start(["resume", "--all", "--json"]));
    resumes.into_iter().for_each(assert_succeeds);
    let after = world.sessions();
    for (before, after) in sessions.iter().zip(&after) {
        assert_eq!(
            (&before["id"], &before["vendor_session_id"]),
            (&after["id"], &after["vendor_session_id"])
        );
        assert_eq!(after["launches"], 2, "started twice: {after:#}");
    }
    assert_eq!(pids_running(&world, "demo-agent").len(), 6);
}

fn assert_succeeds(command: Child) {
    let outcome = finish(command);
    assert_eq!(outcome.status, 0, "{outcome:#?}");
}

#[test]
fn status_change_that_was_reported_survives_an_immediate_kill() {
    let world = world();
    world.ok(["run", "-d", "--name", "coder", "/slow 600"]);
    let mut events = Events::of(&world);
    let reported = wait_event(&mut events, "status_changed", "working");
    world.kill_everything();
    let log = world.events("coder");
    assert!(log.contains(&reported), "{reported} is not in {log:#?}");
    assert_eq!(world.session("coder")["status"], "interrupted");
}
