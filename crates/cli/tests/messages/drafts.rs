//! A message is never typed while an attached person has a draft in the input.

use segue_testkit::{Terminal, World};

use crate::scene::{agent, assert_queued, assert_received, messages, received, wait_idle};

/// Attaches to the agent and types a draft. Returns the terminal.
fn attach_with_draft(world: &World, draft: &str) -> Terminal {
    let mut person = Terminal::start(&world.command(["attach", "alpha"]), 24, 80);
    person.wait_for("messages from you");
    person.write(draft);
    person.wait_for(&format!("> {draft}"));
    person
}

/// Creates a world with an agent that has received the message `first`.
fn agent_with_message() -> World {
    let world = agent("alpha");
    world.ok(["send", "alpha", "first"]);
    world
}

#[test]
fn message_waits_until_a_draft_is_sent() {
    let world = agent_with_message();
    let mut person = attach_with_draft(&world, "half a thou");
    let sent = world.segue(["send", "alpha", "over it", "--timeout", "1s"]);
    assert_queued(&sent);
    assert!(sent.stderr.contains("there is unsent text in its input"), "{sent:#?}");
    person.write("ght\r");
    wait_idle(&world, "alpha");
    assert_received(&world, &["first", "half a thought", "over it"]);
}

#[test]
fn message_waits_until_a_draft_is_cleared() {
    let world = agent_with_message();
    let mut person = attach_with_draft(&world, "half a thou");
    let id = world.ok(["send", "alpha", "over it", "--no-wait"]);
    assert_queued(&world.segue(["send", "alpha", "and this", "--timeout", "1s"]));
    assert_eq!(messages(&world)[1]["id"], id.trim());
    person.write("\x15");
    wait_idle(&world, "alpha");
    assert_received(&world, &["first", "over it", "and this"]);
}

#[test]
fn keys_pressed_while_a_message_is_typed_are_not_mixed_into_it() {
    let world = agent_with_message();
    let mut person = attach_with_draft(&world, "d");
    person.write("\x15");
    world.ok(["send", "alpha", "--no-wait", "a message"]);
    person.write("mine");
    person.wait_for("> mine");
    person.write("\r");
    wait_idle(&world, "alpha");
    let mut received = received(&world);
    received.sort();
    assert_eq!(received, ["a message", "first", "hello", "mine"]);
}

#[test]
fn draft_of_a_detached_person_still_holds_messages_back() {
    let world = agent_with_message();
    let mut person = attach_with_draft(&world, "unfinished");
    person.write("\x1cd");
    assert_eq!(person.wait(), 0);
    assert_queued(&world.segue(["send", "alpha", "over it", "--timeout", "1s"]));
    assert_received(&world, &["first"]);
    let mut person = Terminal::start(&world.command(["attach", "alpha"]), 24, 80);
    person.wait_for("> unfinished");
    person.write("\r");
    wait_idle(&world, "alpha");
    assert_received(&world, &["first", "unfinished", "over it"]);
}
