//! A start that waits at a gate does not keep the session from handling other requests.
//!
//! Agents with `--own-id` choose the ids of their conversations. Only one such agent at a time may
//! start in a folder, so an agent that shows nothing keeps the gate closed until it is stopped.

use std::path::PathBuf;
use std::process::Child;

use segue_testkit::events::Events;
use segue_testkit::scene::finish;
use segue_testkit::{World, launches, scene};
use serde_json::Value;

use crate::world;

/// A world in which the start of the agent `silent` keeps the gate closed.
struct ClosedGate {
    world: World,
    /// The failpoints that the daemon has passed.
    points: PathBuf,
    silent: Child,
}

impl ClosedGate {
    /// Creates the session `late` with `run`, stops it, and then closes the gate.
    fn with_stopped_session(run: &[&str]) -> Self {
        let mut world = world();
        let points = world.root().join("points");
        world.set("SEGUE_FAILPOINT", "list");
        world.set("SEGUE_FAILPOINT_LOG", points.to_str().unwrap());
        // The follower of the events would start a daemon without failpoints.
        world.ok(["ls"]);
        let mut events = Events::of(&world);
        let words = ["run", "--name", "late"].into_iter().chain(run.iter().copied());
        let mut late = world.command(words).spawn().unwrap();
        scene::wait_event(&mut events, "launch_started", "");
        world.ok(["stop", "late"]);
        late.wait().unwrap();
        // The gate stays closed longer for a headless agent.
        let silent = world.start([
            "run",
            "--headless",
            "--name",
            "silent",
            "hi",
            "--",
            "--own-id",
            "--show-nothing",
        ]);
        scene::wait_event(&mut events, "launch_started", "");
        Self { world, points, silent }
    }

    /// Waits until the start of `late` is at the gate, behind its first start and that of `silent`.
    fn wait_for_late(&self) {
        let is_at_gate = || {
            let points = std::fs::read_to_string(&self.points).unwrap_or_default();
            points.lines().filter(|line| line.contains("start.gate.before")).count() == 3
        };
        launches::wait_until(&[self.world.root()], "a start at the gate", is_at_gate);
    }

    /// Stops `silent`, which opens the gate.
    fn open(self) -> World {
        self.world.ok(["stop", "silent"]);
        finish(self.silent);
        self.world
    }
}

/// Waits for the end of `segue resume --json`. Returns the outcome of its agent.
fn outcome(resumed: Child) -> String {
    let resumed = finish(resumed);
    let report: Value = serde_json::from_str(&resumed.stdout).unwrap();
    report["agents"][0]["outcome"].as_str().unwrap().to_owned()
}

#[test]
fn session_answers_requests_while_its_start_waits_and_then_starts() {
    let gate = ClosedGate::with_stopped_session(&["-d", "--", "--own-id"]);
    let mut resumed = gate.world.start(["resume", "late", "--json"]);
    gate.wait_for_late();
    let plan = gate.world.json(["resume", "late", "--plan", "--json"]);
    assert_eq!(plan["plan"][0]["decision"], "start", "{plan:#}");
    assert_eq!(gate.world.session("late")["status"], "ended");
    let sent = gate.world.json(["send", "late", "--no-wait", "remember the word amber", "--json"]);
    assert_eq!(sent["note"], "it waits to be started", "{sent:#}");
    let removed = gate.world.segue(["rm", "late", "--yes"]);
    assert_eq!(removed.status, 4, "{removed:#?}");
    assert!(removed.stderr.contains("`default/late` is about to start"), "{removed:#?}");
    let waiter = gate.world.start(["wait", "late", "--for", "idle"]);
    let again = gate.world.start(["resume", "late", "--json"]);
    assert!(resumed.try_wait().unwrap().is_none(), "the gate was open");
    let world = gate.open();
    assert_eq!(outcome(resumed), "started");
    assert_eq!(outcome(again), "running");
    assert_eq!(finish(waiter).stdout, "idle\n");
    let session = world.session("late");
    assert_eq!((&session["status"], &session["launches"]), (&"idle".into(), &2.into()));
    scene::assert_knows(&world, "late", "amber");
}

#[test]
fn stop_of_a_session_whose_start_waits_cancels_the_start() {
    let gate = ClosedGate::with_stopped_session(&["-d", "--", "--own-id"]);
    let resumed = gate.world.start(["resume", "late"]);
    gate.wait_for_late();
    let waiter = gate.world.start(["send", "late", "--wait", "remember the word amber"]);
    gate.world.ok(["stop", "late"]);
    let resumed = finish(resumed);
    assert_eq!(resumed.status, 8, "{resumed:#?}");
    assert!(resumed.stdout.contains("was stopped before it started"), "{resumed:#?}");
    let waiter = finish(waiter);
    assert_eq!(waiter.status, 4, "{waiter:#?}");
    assert!(waiter.stderr.contains("it is not running"), "{waiter:#?}");
    let world = gate.open();
    let session = world.session("late");
    assert_eq!((&session["status"], &session["launches"]), (&"ended".into(), &1.into()));
    world.ok(["resume", "late"]);
    scene::assert_knows(&world, "late", "amber");
}

#[test]
fn stop_of_a_headless_session_whose_next_turn_waits_leaves_the_message_queued() {
    let late = ["--headless", "hello", "--", "--own-id", "--show-nothing"];
    let gate = ClosedGate::with_stopped_session(&late);
    gate.world.ok(["send", "late", "--no-wait", "go on"]);
    gate.wait_for_late();
    gate.world.ok(["stop", "late"]);
    let world = gate.open();
    // The plan is the answer of the session's own actor, after it could have started.
    world.ok(["resume", "late", "--plan"]);
    let session = world.session("late");
    assert_eq!((&session["status"], &session["launches"]), (&"ended".into(), &1.into()));
    let messages = world.json(["messages", "late", "--json"]);
    assert_eq!(messages["messages"][0]["state"], "queued", "{messages:#}");
}
