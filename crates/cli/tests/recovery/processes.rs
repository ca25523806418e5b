//! The agent, the holder and the daemon, each killed alone.

use segue_testkit::events::Events;
use segue_testkit::scene::{
    assert_knows, event_texts, kill, kill_daemon, pid, start_with_word, wait_event,
};
use segue_testkit::{conversation, processes};

use crate::world;

#[test]
fn killed_agent_is_resumed_automatically_with_its_id() {
    let world = world();
    let before = start_with_word(&world, "coder", "fox");
    let mut events = Events::of(&world);
    processes::kill(pid(&before, "pid"));
    wait_event(&mut events, "launch_ended", "signal 9");
    wait_event(&mut events, "launch_planned", "launch 2 (resume)");
    wait_event(&mut events, "status_changed", "idle");
    let after = world.session("coder");
    assert_eq!(after["vendor_session_id"], before["vendor_session_id"]);
    assert_ne!(after["pid"], before["pid"]);
    assert_eq!(after["launches"], 2);
    assert_knows(&world, "coder", "fox");
}

#[test]
fn killed_holder_ends_only_its_own_agent_and_the_session_is_interrupted() {
    let world = world();
    let before = start_with_word(&world, "coder", "fox");
    let other = start_with_word(&world, "other", "owl");
    let mut events = Events::of(&world);
    kill(pid(&before, "holder_pid"));
    wait_event(&mut events, "launch_ended", "ended while Segue was not watching");
    wait_event(&mut events, "status_changed", "interrupted");
    processes::wait_gone(pid(&before, "pid"));
    let report = world.resume(["--all"]);
    report.assert_back("coder", "resumed");
    report.assert_back("other", "running");
    let after = world.session("coder");
    assert_eq!(after["vendor_session_id"], before["vendor_session_id"]);
    assert_eq!(world.session("other")["pid"], other["pid"], "another agent was touched");
    assert_knows(&world, "coder", "fox");
    assert_knows(&world, "other", "owl");
}

#[test]
fn agents_keep_running_after_the_daemon_is_killed() {
    let world = world();
    let before = start_with_word(&world, "coder", "fox");
    kill_daemon(&world);
    let answer = conversation::ask(&world, &before, "what did I say first?");
    assert_eq!(answer, "The first thing you said was: remember the word fox");
    world.resume([]).assert_back("coder", "running");
    let after = world.session("coder");
    for key in ["pid", "holder_pid", "launches", "vendor_session_id", "id"] {
        assert_eq!(after[key], before[key], "{key}");
    }
    assert_eq!(after["status"], "idle");
    assert_knows(&world, "coder", "fox");
}

#[test]
fn agent_that_ended_without_a_daemon_gets_the_exit_status_from_its_holder() {
    let world = world();
    let quits = start_with_word(&world, "quits", "fox");
    let crashes = start_with_word(&world, "crashes", "owl");
    kill_daemon(&world);
    conversation::type_text(&world, &quits, "/exit\r");
    conversation::type_text(&world, &crashes, "/crash 3\r");
    for session in [&quits, &crashes] {
        processes::wait_gone(pid(session, "pid"));
    }
    let mut events = Events::of(&world);
    wait_event(&mut events, "launch_planned", "launch 2 (resume)");
    assert_eq!(world.session("quits")["status_detail"], "quit");
    assert_eq!(event_texts(&world, "quits", "launch_ended"), ["exit status 0"]);
    let crashed = event_texts(&world, "crashes", "launch_ended");
    assert!(crashed[0].starts_with("exit status 3; its last output: "), "{crashed:?}");
    assert_knows(&world, "crashes", "owl");
}

#[test]
fn session_that_a_person_quit_is_resumed_only_by_name() {
    let world = world();
    let session = start_with_word(&world, "coder", "fox");
    let mut events = Events::of(&world);
    conversation::type_text(&world, &session, "/exit\r");
    wait_event(&mut events, "status_changed", "ended (quit)");
    let report = world.resume(["--all"]);
    assert_eq!((report.status, report.json["agents"].as_array().unwrap().len()), (0, 0));
    assert_eq!(world.session("coder")["launches"], 1, "restarted after a clean quit");
    world.resume(["coder"]).assert_back("coder", "resumed");
    assert_knows(&world, "coder", "fox");
}
