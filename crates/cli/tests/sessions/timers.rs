//! A timer sends a message to an agent at intervals while it runs. At most one message of a timer
//! is queued.

use segue_testkit::events::Events;
use segue_testkit::{World, scene};
use serde_json::Value;

use crate::world;

/// Returns the number of messages with this text and this state.
fn message_count(world: &World, text: &str, state: &str) -> usize {
    let list = world.json(["messages", "coder", "--json"]);
    let is_counted = |it: &&Value| it["text"] == text && it["state"] == state;
    list["messages"].as_array().unwrap().iter().filter(is_counted).count()
}

/// Waits for `count` events of this kind about messages.
fn wait_events(events: &mut Events, kind: &str, count: usize) {
    for _ in 0..count {
        scene::wait_event(events, kind, "message ");
    }
}

#[test]
fn timer_sends_its_prompt_repeatedly_until_the_session_is_stopped() {
    let world = world();
    scene::write_shop(
        &world,
        "[[agents.timers]]\nevery = \"1s\"\nprompt = \"{{agent}}: and now?\"\n",
    );
    world.ok(["up"]);
    let mut events = Events::of(&world);
    wait_events(&mut events, "message_delivered", 2);
    // A new daemon continues the timer, and skips the messages that fell due meanwhile.
    scene::kill_daemon(&world);
    world.ok(["ls"]);
    let before = message_count(&world, "coder: and now?", "delivered");
    wait_events(&mut Events::of(&world), "message_delivered", before + 1);
    let after = message_count(&world, "coder: and now?", "delivered");
    assert!((1..=3).contains(&(after - before)), "{before} {after}");
    world.ok(["stop", "shop"]);
    assert_eq!(message_count(&world, "coder: and now?", "queued"), 0);
}

#[test]
fn timer_keeps_its_interval_when_the_clock_is_set_back() {
    let mut world = world();
    let clock = world.root().join("clock");
    world.set("SEGUE_FAILPOINT_CLOCK", clock.to_str().unwrap());
    scene::write_shop(&world, "[[agents.timers]]\nevery = \"1s\"\nprompt = \"and now?\"\n");
    world.ok(["up"]);
    let mut events = Events::of(&world);
    wait_events(&mut events, "message_delivered", 1);
    std::fs::write(&clock, "-3600").unwrap();
    wait_events(&mut events, "message_delivered", 2);
    // For a daemon that starts now, the launch began an hour in the future.
    scene::kill_daemon(&world);
    world.ok(["ls"]);
    let before = message_count(&world, "and now?", "delivered");
    wait_events(&mut Events::of(&world), "message_delivered", before + 1);
}

#[test]
fn timer_queues_no_second_message_while_one_is_queued() {
    let world = world();
    let timers = "[[agents.timers]]\nevery = \"1s\"\nprompt = \"one more\"\n\
                  [[agents.timers]]\nevery = \"3s\"\nprompt = \"and another\"\n";
    world.write("start.md", "/hang");
    scene::write_shop(&world, &format!("prompt = \"start.md\"\n{timers}"));
    world.ok(["up"]);
    // The second timer falls due when the first one has been due three times.
    let mut events = Events::of(&world);
    wait_events(&mut events, "message_queued", 2);
    assert_eq!(message_count(&world, "one more", "queued"), 1);
    assert_eq!(message_count(&world, "and another", "queued"), 1);
}

#[test]
fn timer_with_interrupt_ends_the_current_turn() {
    let world = world();
    world.write("start.md", "/tool 600");
    scene::write_shop(
        &world,
        "prompt = \"start.md\"\n[[agents.timers]]\nevery = \"2s\"\nprompt = \"stop that\"\n\
         interrupt = true\n",
    );
    world.ok(["up"]);
    wait_events(&mut Events::of(&world), "message_delivered", 1);
    assert!(message_count(&world, "stop that", "delivered") >= 1);
}

#[test]
fn new_timer_in_the_project_file_needs_trust() {
    let world = world();
    scene::write_shop(&world, "");
    world.ok(["up"]);
    let timer = "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n[[agents.timers]]\n\
                 every = \"20m\"\nprompt = \"push it all\"\n";
    world.write("segue.toml", &format!("[fleet]\nname = \"shop\"\n{timer}"));
    let outcome = world.segue(["up"]);
    assert_eq!(outcome.status, 5, "{outcome:#?}");
    assert!(outcome.stderr.contains("push it all"), "{outcome:#?}");
}
