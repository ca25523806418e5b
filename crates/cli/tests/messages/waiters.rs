//! Waiting for an agent: for what, for how long, and by how many at once.

use segue_testkit::events::Events;
use segue_testkit::{World, scene};
use serde_json::Value;

use crate::scene::{agent, assert_error, wait_idle};

fn until(world: &World, target: &str) -> segue_testkit::Outcome {
    world.segue(["wait", "alpha", "--for", target, "--timeout", "100ms"])
}

#[test]
fn what_is_so_already_is_told_at_once_and_what_is_not_runs_out() {
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
fn everybody_who_waits_is_told() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/hang"]);
    let waiters = ["idle", "idle", "waiting", "ended"]
        .map(|target| world.start(["wait", "alpha", "--for", target]));
    let rest = world.start(["wait", "alpha"]);
    // One that lost its patience is nobody's burden.
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
    // Only a person can go on: whoever waits for rest need not wait for that.
    for asked in [rest, idle, other_idle] {
        assert_eq!(told(asked), (Some(4), String::new()));
    }
    world.ok(["answer", "alpha", "no"]);
    wait_idle(&world, "alpha");
    world.ok(["stop", "alpha"]);
    assert_eq!(told(ended).0, Some(0));
}

#[test]
fn a_waiter_goes_on_waiting_after_sigkill_of_the_daemon() {
    let world = agent("alpha");
    let waiter = world.start(["wait", "alpha", "--for", "ended"]);
    let mut events = Events::of(&world);
    scene::wait_event(&mut events, "status_changed", "idle");
    scene::kill_daemon(&world);
    wait_idle(&world, "alpha");
    world.ok(["stop", "alpha"]);
    let output = segue_testkit::Outcome::from(waiter.wait_with_output().unwrap());
    assert_eq!((output.status, output.stdout.as_str()), (0, "ended (stopped)\n"), "{output:#?}");
}

#[test]
fn idle_means_that_nothing_is_left_to_be_said() {
    let world = agent("alpha");
    let texts: Vec<String> = (0..5).map(|number| format!("number {number}")).collect();
    texts.iter().for_each(|text| drop(world.ok(["send", "alpha", "--no-wait", text])));
    wait_idle(&world, "alpha");
    assert_eq!(crate::scene::heard(&world)[1..], texts);
}

#[test]
fn whoever_stops_waiting_leaves_nothing_in_the_daemon() {
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
    // Connections are closed by the daemon when it notices, which it does before it answers others.
    assert!(open() <= before + 2, "{} descriptors, {before} before", open());
}
