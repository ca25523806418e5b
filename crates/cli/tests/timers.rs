//! Something is said to an agent every so often while it runs, and never piles up.
#![expect(clippy::unwrap_used, reason = "a test that fails shall stop at once")]

use segue_testkit::events::Events;
use segue_testkit::{World, scene};
use serde_json::Value;

fn project(world: &World, more: &str) {
    world.write(
        "segue.toml",
        &format!(
            "[fleet]\nname = \"shop\"\n[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n{more}"
        ),
    );
    world.ok(["trust", "--yes"]);
}

/// Returns the messages of a state that say this.
fn messages(world: &World, text: &str, state: &str) -> usize {
    let list = world.json(["messages", "coder", "--json"]);
    let is_it = |it: &&Value| it["text"] == text && it["state"] == state;
    list["messages"].as_array().unwrap().iter().filter(is_it).count()
}

/// Waits until so many messages of a session have become this.
fn wait_events(events: &mut Events, kind: &str, count: usize) {
    for _ in 0..count {
        scene::wait_event(events, kind, "message ");
    }
}

#[test]
fn a_timer_says_its_prompt_again_and_again_and_a_stop_ends_it() {
    let world = World::new(env!("CARGO_BIN_EXE_segue"));
    project(&world, "[[agents.timers]]\nevery = \"1s\"\nprompt = \"{{agent}}: and now?\"\n");
    world.ok(["up"]);
    let mut events = Events::of(&world);
    wait_events(&mut events, "message_delivered", 2);
    // Another daemon keeps the beat: nothing is made up for, and nothing forgotten.
    scene::kill_daemon(&world);
    world.ok(["ls"]);
    let before = messages(&world, "coder: and now?", "delivered");
    wait_events(&mut Events::of(&world), "message_delivered", before + 1);
    let after = messages(&world, "coder: and now?", "delivered");
    assert!((1..=3).contains(&(after - before)), "{before} {after}");
    world.ok(["stop", "shop"]);
    assert_eq!(messages(&world, "coder: and now?", "queued"), 0);
}

#[test]
fn a_timer_keeps_its_beat_when_the_clock_steps_back() {
    let mut world = World::new(env!("CARGO_BIN_EXE_segue"));
    let clock = world.root().join("clock");
    world.set("SEGUE_FAILPOINT_CLOCK", clock.to_str().unwrap());
    project(&world, "[[agents.timers]]\nevery = \"1s\"\nprompt = \"and now?\"\n");
    world.ok(["up"]);
    let mut events = Events::of(&world);
    wait_events(&mut events, "message_delivered", 1);
    std::fs::write(&clock, "-3600").unwrap();
    wait_events(&mut events, "message_delivered", 2);
    // A daemon that starts now knows a launch that began in an hour.
    scene::kill_daemon(&world);
    world.ok(["ls"]);
    let before = messages(&world, "and now?", "delivered");
    wait_events(&mut Events::of(&world), "message_delivered", before + 1);
}

#[test]
fn what_still_waits_is_not_said_twice() {
    let world = World::new(env!("CARGO_BIN_EXE_segue"));
    let timers = "[[agents.timers]]\nevery = \"1s\"\nprompt = \"one more\"\n\
                  [[agents.timers]]\nevery = \"3s\"\nprompt = \"and another\"\n";
    world.write("start.md", "/hang");
    project(&world, &format!("prompt = \"start.md\"\n{timers}"));
    world.ok(["up"]);
    // The second one comes after the first was due three times.
    let mut events = Events::of(&world);
    wait_events(&mut events, "message_queued", 2);
    assert_eq!(messages(&world, "one more", "queued"), 1);
    assert_eq!(messages(&world, "and another", "queued"), 1);
}

#[test]
fn one_that_interrupts_breaks_off_what_the_agent_does() {
    let world = World::new(env!("CARGO_BIN_EXE_segue"));
    world.write("start.md", "/tool 600");
    project(
        &world,
        "prompt = \"start.md\"\n[[agents.timers]]\nevery = \"2s\"\nprompt = \"stop that\"\n\
         interrupt = true\n",
    );
    world.ok(["up"]);
    wait_events(&mut Events::of(&world), "message_delivered", 1);
    assert!(messages(&world, "stop that", "delivered") >= 1);
}

#[test]
fn a_timer_is_for_a_person_to_allow() {
    let world = World::new(env!("CARGO_BIN_EXE_segue"));
    project(&world, "");
    world.ok(["up"]);
    let timer = "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n[[agents.timers]]\n\
                 every = \"20m\"\nprompt = \"push it all\"\n";
    world.write("segue.toml", &format!("[fleet]\nname = \"shop\"\n{timer}"));
    let outcome = world.segue(["up"]);
    assert_eq!(outcome.status, 5, "{outcome:#?}");
    assert!(outcome.stderr.contains("push it all"), "{outcome:#?}");
}
