//! A message is never typed while an attached person has a draft in the input.

use segue_testkit::{Terminal, World};

use crate::scene::{agent, assert_heard, messages, queued_as, wait_idle};

/// Returns the terminal of an attached person who has typed a draft.
fn typing(world: &World, draft: &str) -> Terminal {
    let mut person = Terminal::start(&world.command(["attach", "alpha"]), 24, 80);
    person.wait_for("messages from you");
    person.write(draft);
    person.wait_for(&format!("> {draft}"));
    person
}

fn started() -> World {
    let world = agent("alpha");
    world.ok(["send", "alpha", "first"]);
    world
}

#[test]
fn message_waits_until_a_draft_is_sent() {
    let world = started();
    let mut person = typing(&world, "half a thou");
    let over = world.segue(["send", "alpha", "over it", "--timeout", "1s"]);
    queued_as(&over);
    assert!(over.stderr.contains("there is unsent text in its input"), "{over:#?}");
    person.write("ght\r");
    wait_idle(&world, "alpha");
    assert_heard(&world, &["first", "half a thought", "over it"]);
}

#[test]
fn message_waits_until_a_draft_is_cleared() {
    let world = started();
    let mut person = typing(&world, "half a thou");
    let id = world.ok(["send", "alpha", "over it", "--no-wait"]);
    queued_as(&world.segue(["send", "alpha", "and this", "--timeout", "1s"]));
    assert_eq!(messages(&world)[1]["id"], id.trim());
    person.write("\x15");
    wait_idle(&world, "alpha");
    assert_heard(&world, &["first", "over it", "and this"]);
}

#[test]
fn keys_pressed_while_a_message_is_typed_are_not_mixed_into_it() {
    let world = started();
    let mut person = typing(&world, "d");
    person.write("\x15");
    world.ok(["send", "alpha", "--no-wait", "a message"]);
    person.write("mine");
    person.wait_for("> mine");
    person.write("\r");
    wait_idle(&world, "alpha");
    let mut heard = crate::scene::heard(&world);
    heard.sort();
    assert_eq!(heard, ["a message", "first", "hello", "mine"]);
}

#[test]
fn draft_of_a_detached_person_still_holds_messages_back() {
    let world = started();
    let mut person = typing(&world, "unfinished");
    person.write("\x1cd");
    assert_eq!(person.wait(), 0);
    queued_as(&world.segue(["send", "alpha", "over it", "--timeout", "1s"]));
    assert_heard(&world, &["first"]);
    let mut person = Terminal::start(&world.command(["attach", "alpha"]), 24, 80);
    person.wait_for("> unfinished");
    person.write("\r");
    wait_idle(&world, "alpha");
    assert_heard(&world, &["first", "unfinished", "over it"]);
}
