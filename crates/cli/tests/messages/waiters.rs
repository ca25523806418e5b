//! `segue wait`: for which status, for how long, and by how many processes at once.

use segue_testkit::events::Events;
use segue_testkit::{World, scene};
use serde_json::Value;

use crate::scene::{agent, assert_error, wait_idle};

fn until(world: &World, target: &str) -> segue_testkit::CommandOutcome {
    world.segue(["wait", "alpha", "--for", target, "--timeout", "100ms"])
}

#[test]
fn wait_returns_at_once_if_the_status_is_reached_and_otherwise_times_out() {
    let world = agent("alpha");
    assert_eq!(until(&world, "idle").stdout, "idle\n");
    for other in ["waiting", "ended"] {
        let expected =
            format!("`default/alpha` is still idle: the time ran out before it was `{other}`\n");
        assert_error(&until(&world, other), 4, &expected);
    }
    world.ok(["send", "alpha", "/ask"]);
    for asked in [world.segue(["wait", "alpha"]), until(&world, "idle")] {
        assert_error(&asked, 4, "`default/alpha` cannot go on: a person has to answer");
    }
    assert_error(&until(&world, "ended"), 4, "`default/alpha` is still waiting (permission)");
    world.ok(["stop", "alpha"]);
    assert!(until(&world, "ended").stdout.starts_with("ended"));
    for other in ["idle", "waiting"] {
        assert_error(&until(&world, other), 4, "`default/alpha` is still ended");
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
    let rest = world.start(["wait", "alpha"]);
    // A killed waiter does not affect the others.
    let mut gone = world.start(["wait", "alpha", "--for", "ended"]);
    gone.kill().unwrap();
    gone.wait().unwrap();
    world.ok(["send", "alpha", "--interrupt", "/ask"]);
    let told = |child: std::process::Child| {
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let [idle, other_idle, waiting, ended] = waiters;
    assert_eq!(told(waiting), (Some(0), "waiting (permission)\n".to_owned()));
    // Only a person can continue, so commands that wait for `idle` get an error at once.
    for asked in [rest, idle, other_idle] {
        assert_eq!(told(asked), (Some(4), String::new()));
    }
    world.ok(["answer", "alpha", "no"]);
    wait_idle(&world, "alpha");
    world.ok(["stop", "alpha"]);
    assert_eq!(told(ended).0, Some(0));
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
    let output = segue_testkit::CommandOutcome::from(waiter.wait_with_output().unwrap());
    assert_eq!((output.status, output.stdout.as_str()), (0, "ended (stopped)\n"), "{output:#?}");
}

#[test]
fn wait_for_idle_returns_after_all_queued_messages_are_delivered() {
    let world = agent("alpha");
    let texts: Vec<String> = (0..5).map(|number| format!("number {number}")).collect();
    texts.iter().for_each(|text| drop(world.ok(["send", "alpha", "--no-wait", text])));
    wait_idle(&world, "alpha");
    assert_eq!(crate::scene::heard(&world)[1..], texts);
}

#[test]
fn killed_waiters_leave_no_open_connections_in_the_daemon() {
    let world = agent("alpha");
    let pid = scene::process(&world.json(["daemon", "status", "--json"]), "pid");
    let open = || std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    wait_idle(&world, "alpha");
    let before = open();
    let mut waiters: Vec<_> =
        (0..20).map(|_| world.start(["wait", "alpha", "--for", "ended"])).collect();
    for waiter in &mut waiters {
        waiter.kill().unwrap();
        waiter.wait().unwrap();
    }
    for _ in 0..20 {
        assert_eq!(until(&world, "ended").status, 4);
    }
    // The daemon notices that a client is gone, and closes its connection, before it answers other
    // clients.
    assert!(open() <= before + 2, "{} descriptors, {before} before", open());
}
