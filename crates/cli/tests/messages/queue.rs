//! Messages to an agent that is down or busy: they are kept in order, and can be cancelled.

use segue_testkit::{World, scene};
use serde_json::Value;

use crate::scene::{
    agent, assert_error, assert_queued, assert_received, messages, received, states, wait_idle,
};

#[test]
fn message_to_a_stopped_agent_is_delivered_after_its_resume() {
    let world = agent("alpha");
    world.ok(["stop", "alpha"]);
    let first = world.segue(["send", "alpha", "first"]);
    let id = assert_queued(&first);
    assert!(first.stderr.contains("it is not running"), "{first:#?}");
    assert!(first.stderr.contains("run `segue resume default/alpha`"), "{first:#?}");
    for text in ["second", "third"] {
        assert_queued(&world.segue(["send", "alpha", "--wait", text]));
    }
    assert_eq!(messages(&world)[0]["id"], id);
    assert_eq!(states(&world), ["queued", "queued", "queued"]);
    scene::kill_daemon(&world);
    assert_eq!(world.resume(["alpha"]).status, 0);
    wait_idle(&world, "alpha");
    assert_received(&world, &["first", "second", "third"]);
    assert_eq!(states(&world), ["delivered", "delivered", "delivered"]);
}

#[test]
fn queued_messages_survive_a_kill_of_all_processes() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/hang"]);
    world.ok(["send", "alpha", "--no-wait", "first"]);
    world.ok(["send", "alpha", "--no-wait", "second"]);
    world.kill_everything();
    assert_queued(&world.segue(["send", "alpha", "third"]));
    assert_eq!(world.resume(["--all"]).status, 0);
    wait_idle(&world, "alpha");
    let received = received(&world);
    assert_eq!(received.len(), 6, "expected a nudge for the interrupted turn: {received:?}");
    assert_eq!(received[3..], ["first", "second", "third"]);
}

#[test]
fn queued_message_can_be_cancelled_and_a_settled_one_cannot() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "delivered"]);
    world.ok(["stop", "alpha"]);
    let ids: Vec<String> = ["one", "two", "three"]
        .map(|text| world.ok(["send", "alpha", "--no-wait", text]).trim().to_owned())
        .to_vec();
    let delivered = messages(&world)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(world.ok(["messages", "--cancel", &ids[1]]), format!("{} cancelled\n", ids[1]));
    let error = |id: &str| format!("message `{id}` is settled already");
    let again = world.segue(["messages", "--cancel", &ids[1]]);
    assert_error(&again, 4, &error(&ids[1]));
    assert_error(&world.segue(["messages", "--cancel", &delivered]), 4, &error(&delivered));
    let unknown = world.segue(["messages", "--cancel", "ffffffff"]);
    assert_error(&unknown, 3, "no message has the id `ffffffff`");
    let ambiguous = world.segue(["messages", "--cancel", &ids[0][..4]]);
    assert_error(&ambiguous, 2, &format!("`{}` can mean 4 messages", &ids[0][..4]));
    let empty = world.segue(["messages", "--cancel", ""]);
    assert_error(&empty, 2, "`` can mean 4 messages");
    let json = world.json(["messages", "--cancel", &ids[2], "--json"]);
    assert_eq!((&json["state"], &json["id"]), (&"cancelled".into(), &ids[2].as_str().into()));
    assert_eq!(states(&world), ["delivered", "queued", "cancelled", "cancelled"]);
    assert_eq!(world.resume(["alpha"]).status, 0);
    wait_idle(&world, "alpha");
    assert_received(&world, &["delivered", "one"]);
}

#[test]
fn message_to_a_busy_agent_is_delivered_after_the_turn() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/slow 2"]);
    let busy = world.segue(["send", "alpha", "--timeout", "1ms", "after it"]);
    assert_queued(&busy);
    assert!(busy.stderr.contains("it is busy"), "{busy:#?}");
    wait_idle(&world, "alpha");
    assert_received(&world, &["/slow 2", "after it"]);
    let records =
        segue_testkit::conversation::records(&scene::transcript(&world, &world.session("alpha")));
    let kinds: Vec<&str> = records.iter().map(|record| record["type"].as_str().unwrap()).collect();
    let turn = ["user", "assistant", "turn_end"];
    assert_eq!(kinds[1..], [turn, turn, turn].concat());
}

#[test]
fn send_with_interrupt_ends_the_current_turn() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/hang"]);
    world.ok(["send", "alpha", "--interrupt", "stop, this first"]);
    wait_idle(&world, "alpha");
    assert_received(&world, &["/hang", "stop, this first"]);
    // No turn runs, so there is nothing to interrupt.
    world.ok(["send", "alpha", "--interrupt", "calmly"]);
    assert_received(&world, &["/hang", "stop, this first", "calmly"]);
}

#[test]
fn send_returns_after_delivery_after_the_turn_with_wait_and_at_once_with_no_wait() {
    let world = agent("alpha");
    let answer = world.ok(["send", "alpha", "--wait", "remember the word otter"]);
    assert_eq!(answer, "I will remember otter.\n");
    assert_eq!(world.ok(["send", "alpha", "taken"]), "");
    world.ok(["send", "alpha", "/hang"]);
    let id = world.ok(["send", "alpha", "--no-wait", "recorded"]);
    assert_eq!(assert_queued(&world.segue(["send", "alpha", "--timeout", "1s", "late"])).len(), 36);
    assert_eq!(messages(&world)[3]["id"], id.trim());
    let both = world.segue(["send", "alpha", "--wait", "--no-wait", "x"]);
    assert_eq!(both.status, 2, "{both:#?}");
    let invalid = world.segue(["send", "alpha", "--timeout", "soon", "x"]);
    assert_eq!(invalid.status, 2, "{invalid:#?}");
    assert_eq!(messages(&world).len(), 5);
}

#[test]
fn send_wait_fails_if_the_holder_dies_during_the_turn() {
    let world = agent("alpha");
    let sender = world.start(["send", "alpha", "--wait", "/hang"]);
    segue_testkit::events::Events::of(&world)
        .wait_for(|event| event["kind"] == "message_delivered")
        .unwrap();
    scene::kill(scene::pid(&world.session("alpha"), "holder_pid"));
    let failed = scene::finish(sender);
    assert_error(&failed, 6, "the turn of `default/alpha` failed");
}

#[test]
fn json_of_send_messages_wait_and_errors_has_exactly_the_documented_fields() {
    let world = agent("alpha");
    let message =
        ["address", "created_at", "fleet", "id", "name", "session", "state", "text", "updated_at"];
    let report = world.json(["send", "alpha", "--json", "--wait", "hi"]);
    let session = world.session("alpha");
    let with_session = |more: &[&'static str]| {
        let mut all = [&keys(&session)[..], more].concat();
        // Only `ls` has it.
        all.retain(|key| *key != "attention");
        all.sort_unstable();
        all
    };
    let fields = with_session(&["answer", "failure", "message", "note", "turn_ended"]);
    assert_eq!(keys(&report), fields);
    assert_eq!(keys(&report["message"]), message);
    assert_eq!(report["answer"], "This conversation has 2 messages from you.");
    assert_eq!((&report["turn_ended"], &report["note"]), (&true.into(), &Value::Null));
    world.ok(["stop", "alpha"]);
    let late = world.segue(["send", "alpha", "--json", "later"]);
    assert_eq!(late.status, 4, "{late:#?}");
    let late: Value = serde_json::from_str(&late.stdout).unwrap();
    assert_eq!(keys(&late), fields);
    assert_eq!((&late["message"]["state"], &late["answer"]), (&"queued".into(), &Value::Null));
    assert_eq!(late["note"], "it is not running");
    let list = world.json(["messages", "alpha", "--json"]);
    assert_eq!(keys(&list), ["failed", "messages"]);
    list["messages"].as_array().unwrap().iter().for_each(|it| assert_eq!(keys(it), message));
    let waited = world.json(["wait", "alpha", "--json"]);
    assert_eq!(keys(&waited), with_session(&["outcome"]));
    let error = world.json(["answer", "alpha", "yes", "--json"]);
    assert_eq!(keys(&error["error"]), ["causes", "hints", "kind", "message"]);
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn log_has_every_state_of_a_message() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/ask"]);
    world.ok(["wait", "alpha", "--for", "waiting"]);
    let id = world.ok(["send", "alpha", "--no-wait", "under it"]).trim().to_owned();
    world.ok(["answer", "alpha", "yes"]);
    wait_idle(&world, "alpha");
    let events = world.events("alpha");
    let kinds: Vec<&str> = events
        .iter()
        .filter(|event| event["text"].as_str().unwrap().starts_with(&format!("message {id}")))
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        (kinds.first(), kinds.last()),
        (Some(&"message_queued"), Some(&"message_delivered"))
    );
    assert!(kinds.contains(&"message_typed"), "{kinds:?}");
    let position = |part: &str| {
        let has_part =
            |event: &Value| format!("{} {}", event["kind"], event["text"]).contains(part);
        events.iter().position(has_part).unwrap_or_else(|| panic!("no {part} in {events:#?}"))
    };
    let asked = position("waiting (permission), reported by the vendor's registry");
    assert!(asked < position("\"answered\" \"yes to: Allow?"));
    assert!(events.iter().all(|event| event["at"].is_string()));
    assert!(world.ok(["log", "alpha"]).contains("in the transcript"));
}

#[test]
fn concurrent_messages_are_delivered_once_and_in_order() {
    let world = agent("alpha");
    let texts: Vec<String> = (0..8).map(|number| format!("at once {number}")).collect();
    std::thread::scope(|threads| {
        for text in &texts {
            threads.spawn(|| world.ok(["send", "alpha", text]));
        }
    });
    let mut received = received(&world)[1..].to_vec();
    received.sort();
    assert_eq!(received, texts);
    assert_order_of_delivery(&world);
}

/// Checks that the messages were delivered in the order in which they were recorded.
fn assert_order_of_delivery(world: &World) {
    let recorded: Vec<String> =
        messages(world).iter().map(|it| it["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(received(world)[1..], recorded);
}
