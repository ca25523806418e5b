//! A daemon that does not answer: every command ends, and names the daemon's process and a remedy.

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use segue_testkit::events::Events;
use segue_testkit::scene::daemon_pid;
use segue_testkit::{CommandOutcome, Terminal, World, processes, scene};

use super::in_process_daemon::InProcessDaemon;
use super::{agent, world_without_daemon};
use crate::world;

/// Every command that talks to the daemon, except `attach`, which needs a terminal.
const COMMANDS: [&[&str]; 24] = [
    &[],
    &["up"],
    &["scale", "coder", "2"],
    &["resume", "--all"],
    &["resume", "--plan"],
    &["run", "-d", "hello"],
    &["run", "--headless", "hello"],
    &["ls"],
    &["send", "alpha", "hello"],
    &["messages"],
    &["messages", "--cancel", "0198"],
    &["answer", "alpha", "yes"],
    &["wait", "alpha"],
    &["show", "alpha"],
    &["stop", "--all"],
    &["adopt"],
    &["handoff", "alpha", "--to", "demo"],
    &["log"],
    &["log", "--follow"],
    &["rm", "alpha", "--yes"],
    &["doctor"],
    &["trust", "--yes"],
    &["daemon", "start"],
    &["daemon", "status"],
];

fn start(world: &World, arguments: &[&str]) -> Child {
    let mut command = world.command(arguments);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command.spawn().unwrap()
}

/// Checks that a command failed because the daemon's process is stopped, and names the remedies.
#[track_caller]
fn assert_names_stopped(outcome: &CommandOutcome, pid: u32) {
    assert_eq!(outcome.status, 7, "{outcome:#?}");
    let expected = format!(
        "error: the daemon (process {pid}) does not answer\n  \
         caused by: the process is stopped, as by SIGSTOP\n\
         hint: run `kill -CONT {pid}` to let it go on\n\
         hint: run `segue daemon stop --force` to end it: agents go on, and the next command \
         starts a new daemon\n"
    );
    assert_eq!(outcome.stderr, expected);
}

#[test]
fn every_command_names_a_daemon_that_got_sigstop_and_how_to_continue_it() {
    let world = agent("alpha");
    let pid = daemon_pid(&world);
    processes::send(pid, Signal::STOP);
    let mut attach = Terminal::start(&world.command(["attach", "alpha"]), 24, 80);
    let children = COMMANDS.map(|arguments| (arguments, start(&world, arguments)));
    for (arguments, child) in children {
        println!("segue {arguments:?}");
        assert_names_stopped(&scene::finish(child), pid);
    }
    assert_eq!(attach.wait(), 7, "{attach:?}");
    assert!(attach.contents().contains(&format!("kill -CONT {pid}")), "{attach:?}");
    processes::send(pid, Signal::CONT);
    world.ok(["wait", "alpha", "--for", "idle"]);
    assert_eq!(daemon_pid(&world), pid);
}

#[test]
fn send_wait_names_a_daemon_that_gets_sigstop_meanwhile() {
    let world = agent("alpha");
    let pid = daemon_pid(&world);
    let mut events = Events::of(&world);
    let sender = world.start(["send", "alpha", "--wait", "/hang"]);
    scene::wait_event(&mut events, "message_delivered", "");
    processes::send(pid, Signal::STOP);
    assert_names_stopped(&scene::finish(sender), pid);
    processes::send(pid, Signal::CONT);
}

#[test]
fn long_wait_does_not_time_out_while_the_daemon_answers_health_requests() {
    let world = agent("alpha");
    // This takes longer than the timeout for an answer of the daemon.
    let answered = world.ok(["send", "alpha", "--wait", "/slow 7"]);
    assert!(!answered.is_empty());
}

#[test]
fn stopped_daemon_with_a_full_connection_queue_is_named() {
    let world = world();
    world.ok(["daemon", "start"]);
    let pid = daemon_pid(&world);
    processes::send(pid, Signal::STOP);
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let path = world.state().join("daemon.sock");
    let mut connections = Vec::new();
    loop {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
        match connect(&socket, &SocketAddrUnix::new(&path).unwrap()) {
            Ok(()) => connections.push(UnixStream::from(socket)),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                break;
            }
        }
    }
    assert_names_stopped(&world.segue(["ls"]), pid);
    drop(connections);
}

#[test]
fn daemon_stop_force_ends_a_stopped_daemon_and_no_agent() {
    let world = agent("alpha");
    let pid = daemon_pid(&world);
    let agent = scene::pid(&world.session("alpha"), "pid");
    processes::send(pid, Signal::STOP);
    assert_names_stopped(&world.segue(["daemon", "stop"]), pid);
    assert_eq!(world.ok(["daemon", "stop", "--force"]), "killed; agents go on\n");
    assert!(!processes::is_alive(pid));
    assert_eq!(scene::pid(&world.session("alpha"), "pid"), agent);
    assert!(processes::is_alive(agent));
    world.ok(["daemon", "stop"]);
    assert_eq!(world.ok(["daemon", "stop", "--force"]), "was not running\n");
}

#[test]
fn running_daemon_that_does_not_answer_is_named_with_the_command_to_end_it() {
    let world = world_without_daemon();
    let _daemon = InProcessDaemon::of(&world);
    let outcome = world.segue(["ls"]);
    let own = std::process::id();
    let expected = format!(
        "error: the daemon (process {own}) does not answer\n  caused by: no answer within 5 s\n\
         hint: run `segue daemon stop --force` to end it: agents go on, and the next command \
         starts a new daemon\n"
    );
    assert_eq!((outcome.status, outcome.stderr), (7, expected));
}

#[test]
fn busy_daemon_is_waited_for_longer_than_five_seconds() {
    let world = world_without_daemon();
    let daemon = InProcessDaemon::of(&world);
    let ending = std::thread::spawn(move || daemon.busy_for(Duration::from_secs(7)).stop_after(1));
    let outcome = world.segue(["daemon", "status"]);
    assert_eq!(outcome.stdout, format!("stopping, pid {}\n", std::process::id()), "{outcome:?}");
    ending.join().unwrap();
}
