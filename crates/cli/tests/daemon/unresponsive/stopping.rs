//! A stopping daemon ends within seconds, even if clients wait for it.

use std::io::{BufRead as _, BufReader};
use std::process::Child;

use rustix::process::Signal;
use segue_testkit::events::Events;
use segue_testkit::scene::daemon_pid;
use segue_testkit::{RawClient, World, processes, scene};
use serde_json::{Value, json};

use super::in_process_daemon::{self, InProcessDaemon};
use super::{agent, world_without_daemon};
use crate::world;

fn wait_request(session: &str) -> Value {
    json!({"cwd": "/", "session": session, "target": "ended", "timeout_ms": null})
}

/// Starts `segue send --wait`, and waits until the daemon waits for the end of the turn.
fn start_sender(world: &World, name: &str) -> Child {
    let session = world.session(name)["id"].clone();
    let mut events = Events::of(world);
    let sender = world.start(["send", name, "--wait", "/hang"]);
    let is_own = |it: &Value| it["kind"] == "message_delivered" && it["session"] == session;
    events.wait_for(is_own).unwrap();
    sender
}

/// Starts `segue log --follow`, and waits until it has printed a line.
fn start_follower(world: &World) -> Child {
    let mut follower = world.start(["log", "--follow", "--json"]);
    let mut line = String::new();
    BufReader::new(follower.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with('{'), "{line}");
    follower
}

/// Clients that could delay the end of a daemon.
struct Burdens {
    waiter: RawClient,
    half_body: RawClient,
    _half_head: RawClient,
    idle: RawClient,
    sender: Child,
    follower: Child,
    stopped: Child,
}

impl Burdens {
    fn of(world: &World) -> Self {
        let [mut waiter, mut half_body, mut half_head, mut idle] =
            [(); 4].map(|()| RawClient::connect(world));
        waiter.ask("POST /v1/wait", &wait_request("alpha"));
        half_body.begin("POST /v1/wait", 1000);
        half_body.write("{\"cwd\":");
        half_head.write("POST /v1/wait HTTP/1.1\r\nhost: se");
        idle.write("GET /v1/health HTTP/1.1\r\nhost: segue\r\n\r\n");
        assert_eq!(idle.answer().0, 200);
        let (sender, follower) = (start_sender(world, "alpha"), start_follower(world));
        let stopped = start_sender(world, "beta");
        processes::send(stopped.id(), Signal::STOP);
        Self { waiter, half_body, _half_head: half_head, idle, sender, follower, stopped }
    }

    /// Checks that every client got the right error.
    fn assert_answered(mut self) {
        let (status, error) = self.waiter.answer();
        assert_eq!((status, &error["kind"]), (503, &json!("unavailable")), "{error}");
        assert_eq!(error["message"], "the daemon is stopping");
        assert_eq!(error["hints"][0], "run the command again: it starts a new daemon");
        let (status, error) = self.half_body.answer();
        assert_eq!((status, &error["message"]), (503, &json!("the daemon is stopping")));
        self.idle.wait_closed();
        let sender = scene::finish(self.sender);
        assert_eq!(sender.status, 7, "{sender:#?}");
        assert!(sender.stderr.starts_with("error: the daemon is stopping\n"), "{sender:#?}");
        let follower = scene::finish(self.follower);
        assert_eq!(follower.status, 7, "{follower:#?}");
        processes::send(self.stopped.id(), Signal::CONT);
        let stopped = scene::finish(self.stopped);
        assert_eq!(stopped.status, 7, "{stopped:#?}");
    }
}

fn two_agents() -> World {
    let world = agent("alpha");
    world.ok(["run", "-d", "--name", "beta", "hello"]);
    world.ok(["wait", "beta", "--for", "idle"]);
    world
}

#[test]
fn daemon_stop_ends_the_daemon_and_answers_all_waiting_clients() {
    let world = two_agents();
    let pid = daemon_pid(&world);
    let agent = scene::pid(&world.session("alpha"), "pid");
    let clients = Burdens::of(&world);
    let stopped = world.segue(["daemon", "stop"]);
    assert_eq!((stopped.status, stopped.stdout.as_str()), (0, "stopped\n"), "{stopped:#?}");
    assert!(!processes::is_alive(pid));
    clients.assert_answered();
    assert!(processes::is_alive(agent));
    assert_eq!(world.segue(["daemon", "status"]).stdout, "not running\n");
    assert_eq!(world.sessions().len(), 2);
}

#[test]
fn sigterm_ends_the_daemon_and_answers_all_waiting_clients() {
    let world = two_agents();
    let pid = daemon_pid(&world);
    let clients = Burdens::of(&world);
    processes::send(pid, Signal::TERM);
    processes::wait_gone(pid);
    clients.assert_answered();
}

#[test]
fn daemon_whose_process_still_has_the_lock_is_shown_as_stopping() {
    let world = world_without_daemon();
    let lock = in_process_daemon::lock(&world);
    let own = std::process::id();
    let shown = world.segue(["daemon", "status"]);
    assert_eq!((shown.status, shown.stdout), (7, format!("stopping, pid {own}\n")));
    let shown = world.json(["daemon", "status", "--json"]);
    let status = |stopping: bool, pid: Option<u32>| {
        json!({"running": false, "stopping": stopping, "pid": pid, "version": null,
            "protocol": null, "started_at": null})
    };
    assert_eq!(shown, status(true, Some(own)));
    drop(lock);
    let shown = world.json(["daemon", "status", "--json"]);
    assert_eq!(shown, status(false, None));
}

#[test]
fn daemon_that_reports_its_own_end_is_shown_as_stopping() {
    let world = world_without_daemon();
    let daemon = InProcessDaemon::of(&world);
    let ending = std::thread::spawn(move || daemon.stop_after(1));
    let shown = world.segue(["daemon", "status"]);
    let own = std::process::id();
    assert_eq!((shown.status, shown.stdout), (7, format!("stopping, pid {own}\n")));
    ending.join().unwrap();
}

#[test]
fn command_waits_for_the_end_of_a_stopping_daemon_and_starts_a_new_one() {
    let world = world_without_daemon();
    let daemon = InProcessDaemon::of(&world);
    // Each command checks twice: before and after it gets the lock for starting a daemon.
    let ending = std::thread::spawn(move || daemon.stop_after(2));
    assert_eq!(world.ok(["ls", "--json"]), "{\"sessions\":[]}\n");
    ending.join().unwrap();
    assert_eq!(world.json(["daemon", "status", "--json"])["running"], true);
}

#[test]
fn path_of_two_megabytes_does_not_keep_the_daemon_busy() {
    let world = world();
    world.ok(["ls"]);
    let long = "/x".repeat(1 << 20);
    let clients: Vec<RawClient> = (0..4)
        .map(|_| {
            let mut client = RawClient::connect(&world);
            client.ask("POST /v1/stop", &json!({"cwd": long, "selection": "here"}));
            client
        })
        .collect();
    for mut client in clients {
        let (status, answer) = client.answer();
        assert_eq!((status, &answer), (200, &json!({"stopped": [], "failed": []})));
    }
}
