//! `segue interrupt` ends the turn of an agent, and nothing else.

use segue_testkit::stand_in::StandIn;
use segue_testkit::{World, scene};
use serde_json::Value;

use crate::scene::{agent, assert_error, headless, start_agent, wait_asking, wait_idle};

/// Makes an agent work until it is interrupted.
fn begin_long_turn(world: &World, name: &str) {
    world.ok(["send", name, "--no-wait", "/hang"]);
    scene::wait_session(world, name, |it| it["status"] == "working");
}

#[test]
fn interrupted_agent_ends_its_turn_and_continues_to_run() {
    let world = agent("coder");
    let before = world.session("coder");
    begin_long_turn(&world, "coder");
    let report = world.json(["interrupt", "coder", "--json"]);
    let expected = (Value::from("default/coder"), Value::from("keys"));
    assert_eq!((report["address"].clone(), report["method"].clone()), expected, "{report:#}");
    wait_idle(&world, "coder");
    assert_eq!(world.session("coder")["pid"], before["pid"]);
    let events = scene::event_texts(&world, "coder", "turn_interrupted");
    assert_eq!(events, ["the keys that interrupt a turn were typed"]);
    assert_eq!(
        world.ok(["send", "coder", "--wait", "remember the word otter"]).trim(),
        "I will remember otter."
    );
}

#[test]
fn agent_that_does_not_work_is_not_interrupted() {
    let world = agent("coder");
    let idle = "`default/coder` does not work: it is idle";
    assert_error(&world.segue(["interrupt", "coder"]), 4, idle);
    world.ok(["send", "coder", "--no-wait", "/ask"]);
    wait_asking(&world, "coder", "permission");
    let asks = "`default/coder` does not work: it asks a question";
    assert_error(&world.segue(["interrupt", "coder"]), 4, asks);
    assert_eq!(world.session("coder")["status"], "waiting");
    world.ok(["stop", "coder"]);
    let stopped = "`default/coder` is not running";
    assert_error(&world.segue(["interrupt", "coder"]), 4, stopped);
    assert_eq!(scene::event_texts(&world, "coder", "turn_interrupted"), Vec::<String>::new());
}

#[test]
fn process_of_a_headless_turn_is_ended_and_the_next_message_continues() {
    let world = headless("coder");
    world.ok(["send", "coder", "--no-wait", "/hang"]);
    scene::wait_session(&world, "coder", |it| it["status"] == "working" && it["pid"].is_u64());
    let report = world.json(["interrupt", "coder", "--json"]);
    assert_eq!(report["method"], "stop", "{report:#}");
    let session = world.session("coder");
    assert_eq!((&session["status"], &session["pid"]), (&"ended".into(), &Value::Null));
    let answer = world.ok(["send", "coder", "--wait", "remember the word otter"]);
    assert_eq!(answer.trim(), "I will remember otter.");
}

#[test]
fn agent_interrupts_its_child_and_neither_itself_nor_others() {
    let world = agent("coder");
    start_agent(&world, "other");
    begin_long_turn(&world, "other");
    let coder = StandIn::with_new_daemon(&world, &world.session("coder"));
    let refused = |command: &str, error: &str| {
        let outcome = coder.run(&format!("$SEGUE {command}"));
        assert_eq!(outcome.status, 2, "{outcome:#?}");
        let expected = format!("error: an agent may not {error}");
        assert!(outcome.stderr.starts_with(&expected), "{outcome:#?}");
    };
    refused("interrupt other", "reach a session that is neither its own nor its child");
    refused("interrupt coder", "interrupt its own turn");
    assert_eq!(world.session("other")["status"], "working");
    assert_eq!(coder.run("$SEGUE run -d --name child hello").status, 0);
    wait_idle(&world, "child");
    begin_long_turn(&world, "child");
    let interrupted = coder.run("$SEGUE interrupt child");
    assert_eq!(interrupted.status, 0, "{interrupted:#?}");
    wait_idle(&world, "child");
}
