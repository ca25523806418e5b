//! Commands that take longer than a second show what they wait for, and end cleanly on Ctrl-C.

use rustix::process::Signal;
use segue_testkit::scene::daemon_pid;
use segue_testkit::{Terminal, World, processes, scene};

use super::{agent, in_process_daemon, world_without_daemon};
use crate::world;

const CTRL_C: &str = "\x03";

/// Starts a command in a terminal.
fn start_in_terminal(world: &World, arguments: &[&str]) -> Terminal {
    Terminal::start(&world.command(arguments), 24, 100)
}

/// Starts an agent that is in the middle of a turn that never ends.
fn busy_agent() -> World {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/hang"]);
    world
}

#[test]
fn wait_shows_the_session_and_its_status_and_clears_the_line_at_its_end() {
    let world = busy_agent();
    let mut person = start_in_terminal(&world, &["wait", "alpha", "--for", "ended"]);
    person.wait_for("s) waiting: default/alpha working");
    world.ok(["stop", "alpha"]);
    assert_eq!(person.wait(), 0, "{person:?}");
    assert!(person.contents().starts_with("ended"), "{person:?}");
    assert!(!person.contents().contains("waiting"), "{person:?}");
}

#[test]
fn progress_line_follows_the_status_of_the_session() {
    let world = agent("alpha");
    let mut person = start_in_terminal(&world, &["wait", "alpha", "--for", "ended"]);
    person.wait_for("s) waiting: default/alpha idle");
    world.ok(["send", "alpha", "/ask"]);
    person.wait_for("s) waiting: default/alpha waiting (permission)");
}

#[test]
fn no_progress_line_is_drawn_in_a_pipe_or_with_json() {
    let world = agent("alpha");
    let piped = world.segue(["send", "alpha", "--wait", "/slow 2"]);
    assert_eq!((piped.status, piped.stderr.as_str()), (0, ""), "{piped:#?}");
    let mut person = start_in_terminal(&world, &["send", "alpha", "--wait", "/slow 2", "--json"]);
    assert_eq!(person.wait(), 0, "{person:?}");
    assert!(person.contents().starts_with('{'), "{person:?}");
    assert!(!person.raw().contains(&0x1b), "{person:?}");
}

#[test]
fn interrupted_wait_reports_that_the_agent_goes_on() {
    let world = busy_agent();
    let pid = scene::pid(&world.session("alpha"), "pid");
    for arguments in [&["wait", "alpha", "--for", "ended"][..], &["wait", "alpha"]] {
        let mut person = start_in_terminal(&world, arguments);
        person.wait_for("s) waiting: default/alpha");
        person.write(CTRL_C);
        assert_eq!(person.wait(), 130, "{person:?}");
        let shown = person.contents();
        assert!(shown.contains("interrupted: the agent goes on\n"), "{shown}");
        assert!(shown.contains("hint: run `segue wait default/alpha` to wait again"), "{shown}");
        assert!(!shown.contains("error"), "{shown}");
    }
    assert!(processes::is_alive(pid));
}

#[test]
fn interrupted_send_names_the_message_that_stays_queued() {
    let world = busy_agent();
    let mut person =
        start_in_terminal(&world, &["send", "alpha", "--timeout", "1h", "and then this"]);
    person.wait_for("s) waiting for the agent: default/alpha working");
    person.write(CTRL_C);
    assert_eq!(person.wait(), 130, "{person:?}");
    let messages = world.json(["messages", "alpha", "--json"]);
    let message = messages["messages"].as_array().unwrap().last().unwrap();
    assert_eq!((&message["state"], &message["text"]), (&"queued".into(), &"and then this".into()));
    let notice = format!("the message stays queued as {}", message["id"].as_str().unwrap());
    assert!(person.contents().contains(&notice), "{person:?}");
}

#[test]
fn turn_goes_on_after_its_headless_run_is_interrupted() {
    let world = world();
    let mut person = start_in_terminal(&world, &["run", "--headless", "--name", "alpha", "/hang"]);
    person.wait_for("s) waiting: default/alpha working");
    person.write(CTRL_C);
    assert_eq!(person.wait(), 130, "{person:?}");
    assert!(person.contents().contains("interrupted: the agent goes on"), "{person:?}");
    let session = world.session("alpha");
    assert_eq!(session["status"], "working");
    assert!(processes::is_alive(scene::pid(&session, "pid")));
}

/// Commands that may take long.
const COMMANDS: [&[&str]; 15] = [
    &["up"],
    &["scale", "coder", "2"],
    &["resume", "--all"],
    &["run", "hello"],
    &["run", "-d", "hello"],
    &["run", "--headless", "hello"],
    &["send", "alpha", "hello"],
    &["wait", "alpha"],
    &["show", "alpha"],
    &["stop", "--all"],
    &["adopt"],
    &["handoff", "alpha", "--to", "demo"],
    &["rm", "alpha", "--yes"],
    &["doctor"],
    &["daemon", "start"],
];

#[test]
fn every_command_that_waits_for_the_daemon_shows_it_and_can_be_interrupted() {
    let world = world();
    world.ok(["daemon", "start"]);
    let pid = daemon_pid(&world);
    processes::send(pid, Signal::STOP);
    for arguments in COMMANDS {
        let mut person = start_in_terminal(&world, arguments);
        person.wait_for("s) waiting for the daemon");
        person.write(CTRL_C);
        assert_eq!(person.wait(), 130, "{arguments:?}: {person:?}");
        let shown = person.contents();
        assert!(shown.starts_with("interrupted: "), "{arguments:?}: {shown}");
    }
    processes::send(pid, Signal::CONT);
    assert_eq!(world.sessions().len(), 0);
}

#[test]
fn daemon_stop_shows_that_it_waits_for_the_end_of_the_process() {
    let world = world_without_daemon();
    let _lock = in_process_daemon::lock(&world);
    let mut person = start_in_terminal(&world, &["daemon", "stop"]);
    person.wait_for("s) waiting for the end of the daemon");
    person.write(CTRL_C);
    assert_eq!(person.wait(), 130, "{person:?}");
    assert!(person.contents().contains("the daemon is still stopping"), "{person:?}");
}

#[test]
fn ctrl_c_at_a_question_ends_the_command() {
    let world = world();
    world.write("start.md", "hello");
    let agents = "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\nprompt = \"start.md\"\n";
    world.write("segue.toml", agents);
    let mut person = start_in_terminal(&world, &["up"]);
    person.wait_for("allow this?");
    person.write(CTRL_C);
    // The signal itself ends the process.
    assert_eq!(person.wait(), -1, "{person:?}");
    assert_eq!(world.sessions().len(), 0);
}

#[test]
fn agents_keep_stopping_when_the_command_that_stops_them_is_killed() {
    let world = agent("alpha");
    let pid = scene::pid(&world.session("alpha"), "pid");
    world.ok(["run", "-d", "--name", "beta", "hello"]);
    let other = scene::pid(&world.session("beta"), "pid");
    let mut events = segue_testkit::events::Events::of(&world);
    let mut stopping = world.start(["stop", "alpha", "beta"]);
    scene::wait_event(&mut events, "launch_ended", "");
    stopping.kill().unwrap();
    stopping.wait().unwrap();
    processes::wait_gone(pid);
    processes::wait_gone(other);
}
