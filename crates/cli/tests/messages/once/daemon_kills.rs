//! SIGKILL of the daemon at every failpoint of a request.

use std::collections::BTreeSet;
use std::fs;

use segue_testkit::{CommandOutcome, World, launches, scene};

use crate::scene::{agent, times_received, wait_idle};

/// Runs a command. Returns the failpoints that the daemon passes.
fn failpoints(mut world: World, command: fn(&World) -> CommandOutcome) -> BTreeSet<String> {
    let log = world.root().join("points");
    world.ok(["daemon", "stop"]);
    world.set("SEGUE_FAILPOINT", "list");
    world.set("SEGUE_FAILPOINT_ROLE", "daemon");
    world.set("SEGUE_FAILPOINT_LOG", log.to_str().unwrap());
    let outcome = command(&world);
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    let lines = fs::read_to_string(log).unwrap();
    // The archive is written in parallel, so its failpoints come at any time.
    let points = lines.lines().map(|line| line.split(' ').nth(1).unwrap().to_owned());
    points.filter(|point| !point.starts_with("archive.")).collect()
}

/// Runs a command, during which the daemon dies once, at this failpoint. Checks that the command
/// still succeeds, and returns its output.
fn run_with_kill(world: &mut World, point: &str, command: fn(&World) -> CommandOutcome) -> String {
    let outcome = kill_during(world, point, command);
    let log = || world.ok(["log"]);
    assert_eq!(outcome.status, 0, "{point}: {outcome:#?}\n{}", log());
    outcome.stdout
}

/// Runs a command, during which the daemon dies once, at this failpoint. Returns its outcome.
fn kill_during(
    world: &mut World,
    point: &str,
    command: fn(&World) -> CommandOutcome,
) -> CommandOutcome {
    world.ok(["daemon", "stop"]);
    let gate = world.root().join("gate");
    world.set("SEGUE_FAILPOINT", point);
    world.set("SEGUE_FAILPOINT_ROLE", "daemon");
    world.set("SEGUE_FAILPOINT_GATE", gate.to_str().unwrap());
    world.ok(["daemon", "start"]);
    fs::write(&gate, "").unwrap();
    let outcome = command(world);
    for name in ["SEGUE_FAILPOINT", "SEGUE_FAILPOINT_ROLE", "SEGUE_FAILPOINT_GATE"] {
        world.unset(name);
    }
    // A failpoint that was not reached this time must not kill a later daemon.
    let _passed = fs::remove_file(gate);
    outcome
}

#[test]
fn send_survives_sigkill_of_the_daemon_at_every_point_and_is_delivered_once() {
    let send = |world: &World| world.segue(["send", "alpha", "--wait", "said once"]);
    let points = failpoints(agent("alpha"), send);
    assert!(points.contains("message.add.after"), "{points:?}");
    for point in points {
        let mut world = agent("alpha");
        let answer = run_with_kill(&mut world, &point, send);
        assert!(!answer.is_empty(), "{point}");
        wait_idle(&world, "alpha");
        assert_eq!(times_received(&world, "said once"), 1, "{point}");
    }
}

#[test]
fn run_survives_sigkill_of_the_daemon_at_every_point_and_starts_one_session() {
    let run = |world: &World| world.segue(["run", "-d", "said once"]);
    for point in failpoints(agent("alpha"), run) {
        let mut world = agent("alpha");
        let address = run_with_kill(&mut world, &point, run);
        wait_idle(&world, address.trim());
        assert_eq!(world.sessions().len(), 2, "{point}");
        assert_eq!(times_received(&world, "said once"), 1, "{point}");
    }
}

#[test]
fn headless_run_survives_sigkill_of_the_daemon_at_every_point_and_gives_its_answer() {
    let run = |world: &World| world.segue(["run", "--headless", "remember the word heron"]);
    for point in failpoints(agent("alpha"), run) {
        let mut world = agent("alpha");
        let answer = run_with_kill(&mut world, &point, run);
        assert_eq!(answer, "I will remember heron.\n", "{point}");
        assert_eq!(world.sessions().len(), 2, "{point}");
        assert_eq!(times_received(&world, "remember the word heron"), 1, "{point}");
    }
}

#[test]
fn rename_survives_sigkill_of_the_daemon_at_every_point_and_is_done_once() {
    let rename = |world: &World| world.segue(["rename", "alpha", "beta"]);
    let points = failpoints(agent("alpha"), rename);
    assert!(points.contains("rename.commit.after"), "{points:?}");
    for point in points {
        let mut world = agent("alpha");
        let text = run_with_kill(&mut world, &point, rename);
        assert_eq!(text, "default/alpha is called default/beta now\n", "{point}");
        assert_eq!(scene::event_texts(&world, "beta", "renamed").len(), 1, "{point}");
        let session = world.session("beta");
        assert_eq!(launches::newest_json(&world, &session)["session"]["name"], "beta", "{point}");
        let fleet = fs::read_to_string(world.state().join("fleets/default.json")).unwrap();
        assert!(fleet.contains("\"beta\"") && !fleet.contains("\"alpha\""), "{point}: {fleet}");
    }
}

#[test]
fn settings_survive_sigkill_of_the_daemon_at_every_point() {
    let set = |world: &World| world.segue(["set", "alpha", "--permission", "auto"]);
    let points = failpoints(agent("alpha"), set);
    assert!(points.contains("settings.commit.after"), "{points:?}");
    for point in points {
        let mut world = agent("alpha");
        run_with_kill(&mut world, &point, set);
        let session = world.session("alpha");
        assert_eq!(session["permission"], "auto", "{point}");
        let record = &launches::newest_json(&world, &session)["session"];
        assert_eq!(record["permission"], "auto", "{point}");
    }
}

#[test]
fn message_with_new_settings_survives_sigkill_of_the_daemon_at_every_point() {
    let changed = || {
        let world = agent("alpha");
        world.ok(["set", "alpha", "--permission", "auto"]);
        world
    };
    let send = |world: &World| world.segue(["send", "alpha", "remember the word heron"]);
    for point in failpoints(changed(), send) {
        let mut world = changed();
        kill_during(&mut world, &point, send);
        world.resume(["alpha"]);
        world.ok(["wait", "alpha", "--for", "idle", "--timeout", "170s"]);
        assert_eq!(times_received(&world, "remember the word heron"), 1, "{point}");
        assert_eq!(world.session("alpha")["settings_outdated"], false, "{point}");
    }
}

#[test]
fn interrupt_during_which_the_daemon_dies_is_never_repeated() {
    let interrupt = |world: &World| world.segue(["interrupt", "alpha"]);
    let working = || {
        let world = agent("alpha");
        world.ok(["send", "alpha", "--no-wait", "/hang"]);
        scene::wait_session(&world, "alpha", |it| it["status"] == "working");
        world
    };
    let points = failpoints(working(), interrupt);
    assert!(points.contains("interrupt.keys.after"), "{points:?}");
    for point in points.iter().filter(|point| point.starts_with("interrupt.")) {
        let mut world = working();
        let outcome = kill_during(&mut world, point, interrupt);
        let is_unknown = ["interrupt.begin.after", "interrupt.keys.after"];
        let expected = if is_unknown.contains(&point.as_str()) { 4 } else { 0 };
        assert_eq!(outcome.status, expected, "{point}: {outcome:#?}");
        if outcome.status == 4 {
            // A person looks, and interrupts again if the agent still works.
            let again = world.segue(["interrupt", "alpha"]);
            assert!([0, 4].contains(&again.status), "{point}: {again:#?}");
        }
        wait_idle(&world, "alpha");
        let events = scene::event_texts(&world, "alpha", "turn_interrupted").len();
        assert!(events <= 1, "{point}: {events}");
    }
}
