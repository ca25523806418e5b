//! `segue usage`, and the usage of sessions and tasks. The demo agent reports words as tokens.

use std::fs;

use segue_testkit::hold::Hold;
use segue_testkit::scene::{self, text};
use segue_testkit::{World, conversation, processes};
use serde_json::{Value, json};

use crate::world;

/// Runs a headless turn in a new session.
fn headless(world: &World, name: &str, message: &str) {
    world.ok(["run", "--headless", "--wait", "--vendor", "demo", "--name", name, message]);
}

/// Adds up the words that the transcripts of a session report.
fn reported(world: &World, session: &Value) -> (u64, u64) {
    let transcript = conversation::transcript(world, text(session, "vendor_session_id")).unwrap();
    let text = fs::read_to_string(transcript).unwrap();
    let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let words = records.filter(|it| it["type"] == "turn_end").map(|it| it["words"].clone());
    words.fold((0, 0), |(read, written), words| {
        let count = |name: &str| words[name].as_u64().unwrap_or_default();
        (read + count("read"), written + count("written"))
    })
}

fn usage_of(world: &World, name: &str) -> (u64, u64) {
    let usage = world.session(name)["usage"].clone();
    assert_eq!((&usage["cached"], &usage["cost_usd"]), (&json!(0), &Value::Null), "{usage}");
    (usage["input"].as_u64().unwrap(), usage["output"].as_u64().unwrap())
}

#[test]
fn usage_of_a_session_is_counted_once_across_a_kill_and_a_resume() {
    let world = world();
    headless(&world, "fox", "remember the word amber");
    world.ok(["stop", "fox"]);
    let (input, _) = usage_of(&world, "fox");
    assert_eq!(input, 4, "the words of the message");
    world.kill_everything();
    world.ok(["send", "fox", "--wait", "what is the word?"]);
    world.kill_everything();
    world.ok(["stop", "fox"]);
    let fox = world.session("fox");
    assert_eq!(usage_of(&world, "fox"), reported(&world, &fox));
    assert_eq!(usage_of(&world, "fox").0, 8);
}

#[test]
fn usage_is_added_up_and_stays_when_a_session_is_removed() {
    let world = world();
    headless(&world, "one", "remember the word amber");
    headless(&world, "two", "remember the word amber");
    world.ok(["stop", "one", "two"]);
    let one = usage_of(&world, "one");
    let by = |by: &str| world.json(["usage", "--by", by, "--json"]);
    let vendors = by("vendor");
    let row = json!({
        "fleet": null, "agent": null, "vendor": "demo", "day": null, "sessions": 2,
        "input": 2 * one.0, "cached": 0, "output": 2 * one.1, "cost_usd": null,
    });
    assert_eq!(vendors["usage"], json!([row]));
    let mut total = row;
    total["vendor"] = Value::Null;
    assert_eq!(vendors["total"], total);
    let days = by("day");
    assert!(days["usage"][0]["day"].is_string(), "{days:#}");
    let agents = by("agent");
    assert_eq!(agents["usage"][0]["fleet"], "default", "{agents:#}");
    world.ok(["rm", "--yes", "two"]);
    assert_eq!(by("vendor"), vendors);
    let none = world.json(["usage", "--since", "0s", "--json"]);
    assert_eq!(none["usage"], json!([]));
    let table = world.ok(["usage", "--since", "7d"]);
    assert!(table.lines().last().unwrap().starts_with("total"), "{table}");
}

#[test]
fn usage_of_a_conversation_that_was_handed_over_is_counted_for_its_first_session_only() {
    let world = world();
    headless(&world, "fox", "remember the word amber");
    world.ok(["stop", "fox"]);
    let before = usage_of(&world, "fox");
    world.ok(["handoff", "fox", "--to", "demo", "--name", "owl"]);
    world.ok(["stop", "owl"]);
    assert_eq!(usage_of(&world, "fox"), before);
    let owl = world.session("owl");
    assert!(owl["usage"].is_null() || usage_of(&world, "owl") == reported(&world, &owl), "{owl:#}");
}

#[test]
fn result_of_a_task_has_the_usage_of_its_own_turns_only() {
    let world = world();
    scene::write_shop(&world, "");
    let add = |prompt: &str| {
        let task = ["task", "add", "--agent", "coder", "--issue", "17", "--wait", "--json", prompt];
        world.json(task)["task"].clone()
    };
    let first = add("one two three");
    assert_eq!(first["result"]["usage"]["input"], 3, "{first:#}");
    let second = add("four five six seven");
    assert_eq!(second["session"], first["session"]);
    let (_, name) = text(&second, "address").split_once('/').unwrap();
    let sum = usage_of(&world, name);
    let second = second["result"]["usage"]["input"].as_u64().unwrap();
    assert_eq!(sum.0, 3 + second, "the first turn belongs to the first task");
}

#[test]
fn requests_are_answered_while_a_stop_waits_for_a_slow_count() {
    let mut world = world();
    let hold = Hold::at(&mut world, "usage.read.before");
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "remember the word amber"]);
    hold.meanwhile(&mut world, |world| {
        let pid = scene::pid(&world.session("fox"), "pid");
        let mut stop = world.start(["stop", "fox"]);
        processes::wait_gone(pid);
        let listed = world.session("fox");
        assert_eq!(listed["name"], "fox");
        world.ok(["resume", "fox", "--stopped", "--plan"]);
        world.ok(["send", "fox", "--no-wait", "what is the word?"]);
        assert_eq!(stop.try_wait().unwrap(), None, "the count has not ended");
        // The wait for the count is limited.
        assert!(stop.wait().unwrap().success());
        world.ok(["stop", "fox"]);
        world.ok(["rm", "fox", "--yes"]);
    });
}
