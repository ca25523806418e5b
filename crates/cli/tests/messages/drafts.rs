//! A message is never typed over what an attached person is writing.

use segue_testkit::{Terminal, World};

use crate::scene::{agent, assert_heard, messages, queued_as, wait_idle};

/// Returns a person at the agent's terminal, who has typed something.
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
fn a_message_waits_until_a_draft_is_sent() {
    let world = started();
    let mut person = typing(&world, "half a thou");
    let over = world.segue(["send", "alpha", "over it", "--timeout", "1s"]);
    queued_as(&over);
    assert!(over.stderr.contains("its input is not free"), "{over:#?}");
    person.write("ght\r");
    wait_idle(&world, "alpha");
    assert_heard(&world, &["first", "half a thought", "over it"]);
}

#[test]
fn a_message_waits_until_a_draft_is_cleared() {
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
fn keys_that_come_while_a_message_is_typed_come_after_it() {
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
fn a_draft_left_behind_is_still_a_draft() {
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
