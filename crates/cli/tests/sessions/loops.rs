//! Work that repeats itself is brought to a person: the same tool calls, and messages that go back and
//! forth between two agents.

use std::fs;

use segue_testkit::scene::{event_texts, kill, kill_daemon, pid, wait_session};
use segue_testkit::stand_in::{Mark, StandIn};
use segue_testkit::{RawClient, World};
use serde_json::Value;

fn needs_person(session: &Value) -> bool {
    session["repetition"]["is_known"] == false
}

fn attention(world: &World) -> Vec<Value> {
    let mut client = RawClient::connect(world);
    client.write("GET /v1/attention HTTP/1.1\r\nhost: segue\r\n\r\n");
    client.answer().1["sessions"].as_array().unwrap().clone()
}

fn write_settings(world: &World, text: &str) {
    fs::write(world.segue_home().join("config.toml"), text).unwrap();
}

#[test]
fn repeated_tool_call_needs_a_person_once_across_restarts_until_the_turn_ends() {
    let world = crate::world();
    world.ok(["run", "-d", "--name", "a", "/repeat 10"]);
    let session = wait_session(&world, "a", needs_person);
    assert_eq!(session["status"], "working");
    assert_eq!(session["repetition"]["kind"], "tool_calls");
    let detail = session["status_detail"].as_str().unwrap();
    assert_eq!(detail, "loop: `shell list the files` 10 times");
    let found = "repeats `shell list the files` 10 times without a person";
    assert_eq!(event_texts(&world, "a", "repetition_found"), [found]);
    let needs = attention(&world);
    assert_eq!(needs.len(), 1);
    assert_eq!(needs[0]["reason"], "loop");
    assert_eq!(needs[0]["command"], "segue interrupt default/a");
    let text = needs[0]["text"].as_str().unwrap();
    assert_eq!(text, "repeats the same tool calls: `shell list the files` 10 times");
    assert!(needs[0]["advice"].as_str().unwrap().contains("segue send default/a"));
    let hint = "run `segue interrupt default/a`: it repeats `shell list the files` 10 times";
    let status = world.segue(["status"]);
    assert!(status.stderr.contains(hint), "{status:#?}");

    kill_daemon(&world);
    assert!(needs_person(&world.session("a")));
    world.ok(["interrupt", "a"]);
    wait_session(&world, "a", |it| it["status"] == "idle" && it["repetition"].is_null());
    assert_eq!(event_texts(&world, "a", "repetition_found"), [found]);
    assert_eq!(event_texts(&world, "a", "repetition_over"), ["it no longer repeats itself"]);
    assert_eq!(attention(&world), [] as [Value; 0]);
}

#[test]
fn person_who_sends_a_message_lets_the_repetition_go_on() {
    let world = crate::world();
    write_settings(&world, "[loops]\ntool_calls = 3\n");
    world.ok(["run", "-d", "--name", "a", "/repeat 3"]);
    wait_session(&world, "a", needs_person);
    world.ok(["send", "a", "--no-wait", "go on"]);
    let session = world.session("a");
    assert_eq!(session["repetition"]["is_known"], true);
    assert_eq!((&session["status"], &session["status_detail"]), (&"working".into(), &Value::Null));
    assert_eq!(attention(&world), [] as [Value; 0]);
    let seen = "a person has seen that it repeats itself";
    assert_eq!(event_texts(&world, "a", "repetition_over"), [seen]);
    // The next repetition is a new one.
    world.ok(["interrupt", "a"]);
    wait_session(&world, "a", |it| it["status"] == "idle" && it["repetition"].is_null());
    world.ok(["send", "a", "--no-wait", "/repeat 4"]);
    wait_session(&world, "a", needs_person);
    assert_eq!(event_texts(&world, "a", "repetition_found").len(), 2);
}

#[test]
fn repetitions_are_ignored_if_they_are_switched_off() {
    let world = crate::world();
    write_settings(&world, "[loops]\ntool_calls = 0\nmessages = 0\n");
    world.ok(["run", "-d", "--name", "a", "/repeat 30"]);
    wait_session(&world, "a", |it| it["status"] == "working");
    world.ok(["interrupt", "a"]);
    world.ok(["wait", "a", "--for", "idle"]);
    assert_eq!(event_texts(&world, "a", "repetition_found"), [""; 0]);
}

/// Returns how many messages to `child` are queued.
fn queued(world: &World) -> usize {
    let json: Value = serde_json::from_str(&world.ok(["messages", "--json"])).unwrap();
    let of_child = |it: &&Value| it["name"] == "child" && it["state"] == "queued";
    json["messages"].as_array().unwrap().iter().filter(of_child).count()
}

/// Lets `lead` start `child`, and both send messages to each other, twice in each direction. Returns
/// the agent of `lead`.
fn exchange(world: &World) -> StandIn<'_> {
    world.ok(["run", "-d", "--name", "lead", "hello"]);
    let lead = wait_session(world, "lead", |it| it["status"] == "idle");
    let lead = StandIn::with_new_daemon(world, &lead);
    assert_eq!(lead.run("$SEGUE run -d --name child hello").status, 0);
    let session = wait_session(world, "child", |it| it["status"] == "idle");
    let child = StandIn::of(world, &session, Mark::Kept);
    world.ok(["ls"]);
    for number in 0..2 {
        let sent = lead.run(&format!("$SEGUE send child --no-wait 'thanks {number}'"));
        let reported = child.run(&format!("$SEGUE task report 'you are welcome {number}'"));
        assert_eq!((sent.status, reported.status), (0, 0), "{sent:#?} {reported:#?}");
    }
    // The shell of the child ends, and its agent comes back.
    let session = world.session("child");
    ["holder_pid", "pid"].iter().for_each(|key| kill(pid(&session, key)));
    world.resume(["child"]);
    world.ok(["wait", "child", "--for", "idle"]);
    assert_eq!(queued(world), 0);
    lead
}

#[test]
fn messages_between_two_agents_are_held_until_a_person_lets_them_go_on() {
    let world = crate::world();
    write_settings(&world, "[loops]\nmessages = 5\n");
    let lead = exchange(&world);
    let held = lead.run("$SEGUE send child --no-wait 'thanks again'");
    assert_eq!(held.status, 0, "{held:#?}");
    let session = world.session("child");
    assert_eq!((&session["status"], queued(&world)), (&"idle".into(), 1), "{session:#}");
    assert!(needs_person(&session), "{session:#}");
    let with = "messages went back and forth with `default/lead` 5 times";
    assert_eq!(session["status_detail"], format!("loop: {with}"));
    assert_eq!(attention(&world)[0]["command"], "segue send default/child TEXT");
    kill_daemon(&world);
    world.ok(["wait", "child", "--for", "idle"]);
    assert_eq!(queued(&world), 1);

    world.ok(["send", "child", "--wait", "go on"]);
    assert_eq!((queued(&world), &world.session("child")["repetition"]), (0, &Value::Null));
    let over = event_texts(&world, "child", "repetition_over");
    assert_eq!(over, ["a person lets the messages go on"]);
    // The count begins again.
    assert_eq!(lead.run("$SEGUE send child --no-wait 'one more'").status, 0);
    assert_eq!(world.session("child")["repetition"], Value::Null);
}
