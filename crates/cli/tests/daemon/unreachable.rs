//! Sessions whose processes are stopped or cannot be reached.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Instant;

use rustix::process::Signal;
use segue_conformance::wait;
use segue_host::process;
use segue_host::socket::connect_blocking;
use segue_testkit::scene::{kill_daemon, pid, wait_session, write_project};
use segue_testkit::world::DEADLINE;
use segue_testkit::{Terminal, World, conversation, files, launches, processes};
use serde_json::Value;

/// Creates a world with the agent `fox`, which has completed a turn and is idle.
fn world() -> World {
    let world = crate::world();
    world.ok(["run", "-d", "--name", "fox", "remember the word amber"]);
    conversation::wait_turns(&world, &world.session("fox"), 1);
    world.ok(["wait", "fox", "--for", "idle"]);
    world
}

/// Sends SIGSTOP to a process, and waits until it is stopped.
fn suspend(pid: u32) {
    let target = process::find(pid).unwrap();
    processes::send(pid, Signal::STOP);
    let end = Instant::now() + DEADLINE;
    while !process::is_stopped(&target) {
        assert!(Instant::now() < end, "process {pid} is not stopped");
        std::thread::yield_now();
    }
}

fn socket(world: &World, session: &Value) -> PathBuf {
    launches::newest(world, session).0.join("holder.sock")
}

#[test]
fn stop_ends_a_session_whose_holder_got_sigstop_and_resume_brings_it_back() {
    let world = world();
    let before = world.session("fox");
    suspend(pid(&before, "holder_pid"));
    world.ok(["stop", "fox"]);
    let after = world.session("fox");
    assert_eq!((&after["status"], &after["status_detail"]), (&"ended".into(), &"stopped".into()));
    for key in ["pid", "holder_pid"] {
        assert!(!processes::is_alive(pid(&before, key)), "{key}");
    }
    world.ok(["resume", "fox"]);
    let answer = conversation::ask(&world, &world.session("fox"), "what is the word?");
    assert!(answer.contains("amber"), "{answer}");
}

#[test]
fn holder_that_got_sigstop_is_named_by_every_command_and_continued_by_doctor() {
    let world = world();
    let before = world.session("fox");
    let holder = pid(&before, "holder_pid");
    suspend(holder);
    let fault = format!("the process that holds the agent is stopped, pid {holder}");
    let listed = world.session("fox");
    assert_eq!(
        (listed["status"].as_str(), listed["status_detail"].as_str()),
        (Some("idle"), Some(&*fault))
    );
    assert!(world.ok(["ls"]).contains(&fault));
    let outcome = world.segue(["resume", "fox"]);
    assert_eq!(outcome.status, 8, "{outcome:#?}");
    assert!(outcome.stdout.contains(&fault), "{outcome:#?}");
    let outcome = world.segue(["send", "fox", "--wait", "what is the word?"]);
    assert_eq!(outcome.status, 4, "{outcome:#?}");
    assert!(outcome.stderr.contains(&fault), "{outcome:#?}");
    let mut person = Terminal::start(&world.command(["attach", "fox"]), 30, 100);
    person.wait_for("kill -CONT");
    assert_eq!(person.wait(), 7);
    assert!(person.contents().contains("is stopped"), "{}", person.contents());
    let outcome = world.segue(["doctor"]);
    assert_eq!(outcome.status, 1, "{outcome:#?}");
    let finding = format!("problem: `default/fox` does not work: {fault}\n  cure: ");
    assert!(outcome.stdout.contains(&finding), "{outcome:#?}");
    let outcome = world.segue(["doctor", "--fix"]);
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    assert!(outcome.stdout.contains("fixed: `default/fox`"), "{outcome:#?}");
    assert_eq!(world.session("fox")["pid"], before["pid"]);
    // The message that was sent meanwhile arrives.
    let answer = conversation::wait_turns(&world, &before, 2);
    assert!(answer.contains("amber"), "{answer}");
}

#[test]
fn wait_for_a_session_whose_holder_got_sigstop_fails_at_once() {
    let world = world();
    let holder = pid(&world.session("fox"), "holder_pid");
    suspend(holder);
    let outcome = world.segue(["wait", "fox", "--for", "ended"]);
    assert_eq!(outcome.status, 7, "{outcome:#?}");
    let fault = format!("the process that holds the agent is stopped, pid {holder}");
    assert!(outcome.stderr.contains(&fault), "{outcome:#?}");
}

#[test]
fn deleted_holder_socket_is_created_again_without_a_command() {
    let world = world();
    let session = world.session("fox");
    let socket = socket(&world, &session);
    for _ in 0..2 {
        fs::remove_file(&socket).unwrap();
        wait::until(&[socket.parent().unwrap()], "the socket", || socket.exists());
    }
    let answer = conversation::ask(&world, &session, "what is the word?");
    assert!(answer.contains("amber"), "{answer}");
    assert_eq!(world.session("fox")["launches"], 1);
}

#[test]
fn deleted_daemon_socket_is_created_again_by_the_same_daemon() {
    let world = world();
    let daemon = world.json(["daemon", "status", "--json"])["pid"].clone();
    let socket = world.state().join("daemon.sock");
    for _ in 0..2 {
        fs::remove_file(&socket).unwrap();
        wait::until(&[&world.state()], "the socket", || connect_blocking(&socket).is_ok());
        assert_eq!(world.json(["daemon", "status", "--json"])["pid"], daemon);
    }
    assert_eq!(world.session("fox")["launches"], 1);
    let metadata = fs::metadata(&socket).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
}

#[test]
fn holder_whose_socket_was_deleted_while_no_daemon_ran_is_found_again() {
    let world = world();
    let session = world.session("fox");
    kill_daemon(&world);
    fs::remove_file(socket(&world, &session)).unwrap();
    let found = world.session("fox");
    assert_eq!((&found["pid"], &found["launches"]), (&session["pid"], &1.into()));
    assert_eq!(found["status_detail"], Value::Null);
    let answer = conversation::ask(&world, &session, "what is the word?");
    assert!(answer.contains("amber"), "{answer}");
}

#[test]
fn daemon_that_found_a_stopped_holder_follows_it_after_doctor_continues_it() {
    let world = world();
    let session = world.session("fox");
    let holder = pid(&session, "holder_pid");
    kill_daemon(&world);
    suspend(holder);
    let found = world.session("fox");
    let fault = format!("the process that holds the agent is stopped, pid {holder}");
    assert_eq!((&found["pid"], &found["status_detail"]), (&session["pid"], &fault.into()));
    world.ok(["doctor", "--fix"]);
    let answer = world.ok(["send", "fox", "--wait", "what is the word?"]);
    assert!(answer.contains("amber"), "{answer}");
    // The daemon also notices a crash, and restarts the agent.
    processes::kill(pid(&session, "pid"));
    wait_session(&world, "fox", |session| session["launches"] == 2);
}

/// A wrapper script that runs the actual agent in a process of its own.
const WRAPPER: &str = "#!/bin/sh\nsh -c 'echo $$ > \"$HOME/below\"; \
                       while read -r line; do echo \"heard $line\"; done'\n";

/// Creates a world with the agent `fox`, whose program is the wrapper.
fn world_with_wrapper() -> World {
    let world = crate::world();
    let program = world.home().join("wrapper");
    files::write_program(&program, WRAPPER);
    let program = program.display();
    write_project(&world, &format!("[vendors.wrapped]\ncommand = [\"{program}\"]\n"));
    world.ok(["run", "-d", "--vendor", "wrapped", "--name", "fox"]);
    let below = world.home().join("below");
    let is_written = || fs::read_to_string(&below).is_ok_and(|text| text.ends_with('\n'));
    wait::until(&[&world.home()], "the process below the wrapper", is_written);
    world
}

#[test]
fn process_of_an_agent_that_got_sigstop_is_shown_and_continued_by_doctor() {
    let world = world_with_wrapper();
    let below = fs::read_to_string(world.home().join("below")).unwrap();
    let below: u32 = below.trim().parse().unwrap();
    suspend(below);
    let fault = format!("the agent's process is stopped, pid {below}");
    let detail = world.session("fox")["status_detail"].to_string();
    assert!(detail.contains(&fault), "{detail}");
    let outcome = world.segue(["doctor"]);
    assert_eq!(outcome.status, 1, "{outcome:#?}");
    assert!(outcome.stdout.contains(&fault), "{outcome:#?}");
    assert!(outcome.stdout.contains(&format!("kill -CONT {below}")), "{outcome:#?}");
    world.ok(["doctor", "--fix"]);
    let detail = world.session("fox")["status_detail"].to_string();
    assert!(!detail.contains("stopped"), "{detail}");
}

#[test]
fn ctrl_z_does_not_suspend_an_attached_agent() {
    let world = world();
    let mut person = Terminal::start(&world.command(["attach", "fox"]), 30, 100);
    person.wait_for("I will remember amber.");
    person.write("\x1a");
    person.write("what is the word?\r");
    person.wait_for("The word is amber.");
    assert_eq!(world.session("fox")["status_detail"], Value::Null);
}

#[test]
fn ctrl_z_does_not_suspend_a_shell_and_the_program_in_it() {
    let world = world_with_wrapper();
    let mut person = Terminal::start(&world.command(["attach", "fox"]), 30, 100);
    person.wait_written("detach with");
    person.write("\x1a");
    person.write("\x15hello\r");
    person.wait_for("heard hello");
}

#[test]
fn agent_that_got_sigstop_is_continued_at_once() {
    let world = world();
    let session = world.session("fox");
    processes::send(pid(&session, "pid"), Signal::STOP);
    let answer = conversation::ask(&world, &session, "what is the word?");
    assert!(answer.contains("amber"), "{answer}");
}

#[test]
fn session_starts_although_the_dynamic_linker_prints_a_warning() {
    let mut world = crate::world();
    world.set("LD_PRELOAD", "/nonexistent.so");
    world.ok(["run", "-d", "--name", "fox", "remember the word amber"]);
    let outcome = world.segue(["run", "--headless", "--wait", "--name", "owl", "hello"]);
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    world.unset("LD_PRELOAD");
    conversation::wait_turns(&world, &world.session("fox"), 1);
}
