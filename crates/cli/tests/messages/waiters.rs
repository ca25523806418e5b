//! `segue wait`: for which status, for how long, and by how many processes at once.

use segue_testkit::events::Events;
use segue_testkit::{World, scene};
use serde_json::Value;

use crate::scene::{agent, assert_error, wait_idle};

/// Runs `segue wait` with a short timeout.
fn wait_briefly(world: &World, target: &str) -> segue_testkit::CommandOutcome {
    world.segue(["wait", "alpha", "--for", target, "--timeout", "100ms"])
}

#[test]
fn wait_returns_at_once_if_the_status_is_reached_and_otherwise_times_out() {
    let world = agent("alpha");
    assert_eq!(wait_briefly(&world, "idle").stdout, "idle\n");
    for other in ["waiting", "ended"] {
        let expected =
            format!("`default/alpha` is still idle: the time ran out before it was `{other}`\n");
        assert_error(&wait_briefly(&world, other), 4, &expected);
    }
    world.ok(["send", "alpha", "/ask"]);
    for asked in [world.segue(["wait", "alpha"]), wait_briefly(&world, "idle")] {
        assert_error(&asked, 4, "`default/alpha` cannot go on: a person has to answer");
    }
    assert_error(
        &wait_briefly(&world, "ended"),
        4,
        "`default/alpha` is still waiting (permission)",
    );
    world.ok(["stop", "alpha"]);
    assert!(wait_briefly(&world, "ended").stdout.starts_with("ended"));
    for other in ["idle", "waiting"] {
        assert_error(&wait_briefly(&world, other), 4, "`default/alpha` is still ended");
    }
    let late = world.segue(["wait", "alpha", "--for", "idle", "--timeout", "100ms", "--json"]);
    let session: Value = serde_json::from_str(&late.stdout).unwrap();
    assert_eq!((late.status, &session["status"]), (4, &"ended".into()), "{late:#?}");
    assert_error(&world.segue(["wait", "nobody"]), 3, "there is no session or fleet `nobody`");
    assert_eq!(world.segue(["wait", "alpha", "--for", "rain"]).status, 2);
}

#[test]
fn all_waiters_are_answered_when_the_status_changes() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/hang"]);
    let waiters = ["idle", "idle", "waiting", "ended"]
        .map(|target| world.start(["wait", "alpha", "--for", target]));
    let without_target = world.start(["wait", "alpha"]);
    // A killed waiter does not affect the others.
    let mut killed = world.start(["wait", "alpha", "--for", "ended"]);
    killed.kill().unwrap();
    killed.wait().unwrap();
    world.ok(["send", "alpha", "--interrupt", "/ask"]);
    let finish = |child: std::process::Child| {
        let outcome = scene::finish(child);
        (outcome.status, outcome.stdout)
    };
    let [idle, other_idle, waiting, ended] = waiters;
    assert_eq!(finish(waiting), (0, "waiting (permission)\n".to_owned()));
    // Only a person can continue, so commands that wait for `idle` get an error at once.
    for asked in [without_target, idle, other_idle] {
        assert_eq!(finish(asked), (4, String::new()));
    }
    world.ok(["answer", "alpha", "no"]);
    wait_idle(&world, "alpha");
    world.ok(["stop", "alpha"]);
    assert_eq!(finish(ended).0, 0);
}

#[test]
fn wait_continues_after_sigkill_of_the_daemon() {
    let world = agent("alpha");
    let waiter = world.start(["wait", "alpha", "--for", "ended"]);
    let mut events = Events::of(&world);
    scene::wait_event(&mut events, "status_changed", "idle");
    scene::kill_daemon(&world);
    wait_idle(&world, "alpha");
    world.ok(["stop", "alpha"]);
    let waited = scene::finish(waiter);
    assert_eq!((waited.status, waited.stdout.as_str()), (0, "ended (stopped)\n"), "{waited:#?}");
}

#[test]
fn wait_for_idle_returns_after_all_queued_messages_are_delivered() {
    let world = agent("alpha");
    let texts: Vec<String> = (0..5).map(|number| format!("number {number}")).collect();
    texts.iter().for_each(|text| drop(world.ok(["send", "alpha", "--no-wait", text])));
    wait_idle(&world, "alpha");
    assert_eq!(crate::scene::received(&world)[1..], texts);
}

#[test]
fn killed_waiters_leave_no_open_connections_in_the_daemon() {
    let world = agent("alpha");
    let pid = scene::daemon_pid(&world);
    let open_files = || std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    wait_idle(&world, "alpha");
    let before = open_files();
    let mut waiters: Vec<_> =
        (0..20).map(|_| world.start(["wait", "alpha", "--for", "ended"])).collect();
    for waiter in &mut waiters {
        waiter.kill().unwrap();
        waiter.wait().unwrap();
    }
    for _ in 0..20 {
        assert_eq!(wait_briefly(&world, "ended").status, 4);
    }
    // The daemon notices that a client is gone, and closes its connection, before it answers other
    // clients.
    let after = open_files();
    assert!(after <= before + 2, "{after} descriptors, {before} before");
}
