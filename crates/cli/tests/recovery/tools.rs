//! Tools of an agent that run in a process session of their own (`setsid`).

use std::fs;

use segue_testkit::events::Events;
use segue_testkit::scene::{
    assert_knows, kill, kill_daemon, pid, start_with_word, text, wait_event,
};
use segue_testkit::{World, conversation, launches, processes};
use serde_json::Value;

use crate::world;

/// Starts a session with such a tool. Returns the session and the tool's pid.
fn start_with_tool(world: &World) -> (Value, u32) {
    let session = start_with_word(world, "coder", "fox");
    let answer = conversation::ask(world, &session, "/daemonize 600");
    let tool = answer.trim_end_matches('.').rsplit(' ').next().unwrap().parse().unwrap();
    assert!(processes::is_alive(tool), "{answer}");
    assert_eq!(process_session(tool), tool, "the tool has no process session of its own");
    (session, tool)
}

/// Returns the process session of a process.
fn process_session(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(3).unwrap().parse().unwrap()
}

#[test]
fn stop_ends_a_tool_with_its_own_process_session() {
    let world = world();
    let (_, tool) = start_with_tool(&world);
    world.ok(["stop", "coder"]);
    assert!(!processes::is_alive(tool));
    assert_eq!(world.session("coder")["status_detail"], "stopped");
}

#[test]
fn exit_of_the_agent_ends_a_tool_with_its_own_process_session() {
    let world = world();
    let (session, tool) = start_with_tool(&world);
    let mut events = Events::of(&world);
    conversation::type_text(&world, &session, "/exit\r");
    wait_event(&mut events, "launch_ended", "exit status 0");
    assert!(!processes::is_alive(tool));
}

#[test]
fn daemon_ends_and_reports_a_tool_that_outlived_its_holder() {
    let world = world();
    let (session, tool) = start_with_tool(&world);
    let mut events = Events::of(&world);
    // Kill the holder first, because it would end the tool itself.
    kill(pid(&session, "holder_pid"));
    let ended = wait_event(&mut events, "leftovers_ended", "processes of launch");
    assert!(text(&ended, "text").contains(&tool.to_string()), "{ended}");
    assert!(!processes::is_alive(tool));
    wait_event(&mut events, "launch_ended", "ended while Segue was not watching");
}

#[test]
fn tool_of_a_dead_launch_is_ended_before_the_next_launch() {
    let world = world();
    let (session, tool) = start_with_tool(&world);
    kill_daemon(&world);
    kill(pid(&session, "holder_pid"));
    processes::kill(pid(&session, "pid"));
    processes::wait_gone(pid(&session, "pid"));
    assert!(processes::is_alive(tool), "no process was left that could have ended it");
    world.resume(["coder"]).assert_back("coder", "resumed");
    assert!(!processes::is_alive(tool));
    let kinds: Vec<String> =
        world.events("coder").iter().map(|event| text(event, "kind").to_owned()).collect();
    let last = |kind: &str| kinds.iter().rposition(|it| it == kind).unwrap();
    assert!(last("leftovers_ended") < last("launch_planned"), "{kinds:?}");
    assert_knows(&world, "coder", "fox");
}

#[test]
fn doctor_finds_and_ends_a_process_that_is_marked_with_an_ended_launch() {
    let world = world();
    let session = start_with_word(&world, "coder", "fox");
    let launch = launches::newest_id(&world, &session);
    world.ok(["stop", "coder"]);
    let mut command = world.command(["demo-agent", "--tool", "600000"]);
    let mut stray = command.env("SEGUE_LAUNCH", launch.to_string()).spawn().unwrap();
    let found = world.segue(["doctor"]);
    let line = format!("process {} (", stray.id());
    assert!(found.status == 1 && found.stdout.contains(&line), "{found:#?}");
    assert!(processes::is_alive(stray.id()), "`segue doctor` without `--fix` killed it");
    let fixed = world.ok(["doctor", "--fix"]);
    assert!(fixed.contains(&format!("fixed: {line}")), "{fixed}");
    assert!(!stray.wait().unwrap().success());
    assert!(world.ok(["doctor"]).starts_with("nothing is wrong\n"));
}
