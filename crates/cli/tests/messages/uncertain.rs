//! An agent that swallows messages: nothing shows whether they arrived, and none is typed twice.

use std::time::Instant;

use segue_testkit::events::Events;
use segue_testkit::world::DEADLINE;
use segue_testkit::{CommandOutcome, Terminal, World, scene as kit};

use crate::scene::{agent, assert_error, heard, messages, queued_as, states, wait_idle};
use crate::world;

/// A message that leaves no trace in the conversation.
const SWALLOWED: &str = "/stray";

#[test]
fn message_without_evidence_is_uncertain_and_is_not_typed_again() {
    let world = agent("alpha");
    let sender = world.start(["send", "alpha", SWALLOWED, "--timeout", "170s"]);
    let next = world.start(["send", "alpha", "after it", "--timeout", "170s"]);
    let told = CommandOutcome::from(sender.wait_with_output().unwrap());
    assert_error(&told, 4, "it is not known whether `default/alpha` got the message");
    assert!(told.stderr.contains("segue attach default/alpha"), "{told:#?}");
    let next = CommandOutcome::from(next.wait_with_output().unwrap());
    assert_eq!(next.status, 0, "{next:#?}");
    assert_eq!(heard(&world)[1..], ["after it"]);
    let mut states = states(&world);
    states.sort();
    assert_eq!(states, ["delivered", "uncertain"]);
    let table = world.ok(["messages"]);
    let line = table.lines().find(|line| line.contains(SWALLOWED)).unwrap();
    assert!(line.contains("uncertain"), "{table}");
    let log = world.ok(["log", "alpha"]);
    assert!(log.contains("nothing shows whether it arrived"), "{log}");
}

#[test]
fn clock_set_back_while_a_message_is_typed_does_not_delay_its_result() {
    let mut world = world();
    let clock = world.root().join("clock");
    world.set("SEGUE_FAILPOINT_CLOCK", clock.to_str().unwrap());
    crate::scene::add(&world, "alpha");
    let mut events = Events::of(&world);
    let sender = world.start(["send", "alpha", SWALLOWED, "--timeout", "170s"]);
    kit::wait_event(&mut events, "message_typed", "message ");
    std::fs::write(&clock, "-3600").unwrap();
    let told = CommandOutcome::from(sender.wait_with_output().unwrap());
    assert_error(&told, 4, "it is not known whether `default/alpha` got the message");
    assert_eq!(states(&world), ["uncertain"]);
}

/// Sends a message that the agent's process does not read, and kills all processes.
fn killed_on_the_way(world: &World) {
    // From here on, typed text stays in the terminal's input buffer.
    let mut person = Terminal::start(&world.command(["attach", "alpha"]), 30, 100);
    person.wait_for("This conversation has 1 message");
    person.write("/deaf\r");
    person.wait_for("it reads nothing any more");
    drop(person);
    let late = world.segue(["send", "alpha", "lost on the way", "--timeout", "100ms"]);
    queued_as(&late);
    let end = Instant::now() + DEADLINE;
    while states(world) != ["typing"] {
        assert!(Instant::now() < end, "the message was not typed: {:#?}", messages(world));
    }
    let on_its_way = messages(world)[0]["id"].as_str().unwrap().to_owned();
    let cancel = world.segue(["messages", "--cancel", &on_its_way]);
    assert_error(&cancel, 4, &format!("message `{on_its_way}` is being typed"));
    world.kill_everything();
}

#[test]
fn typed_message_that_is_not_in_the_transcript_is_delivered_after_resume() {
    let world = agent("alpha");
    killed_on_the_way(&world);
    world.ok(["ls"]);
    assert_eq!(states(&world), ["queued"]);
    assert_eq!(world.resume(["alpha"]).status, 0);
    wait_idle(&world, "alpha");
    assert_eq!(heard(&world)[1..], ["lost on the way"]);
}

#[test]
fn typed_message_is_uncertain_if_the_transcript_is_missing() {
    let world = agent("alpha");
    let transcript = kit::transcript(&world, &world.session("alpha"));
    killed_on_the_way(&world);
    std::fs::remove_file(transcript).unwrap();
    world.ok(["ls"]);
    assert_eq!(states(&world), ["uncertain"]);
    assert_eq!(world.resume(["alpha"]).status, 0);
    wait_idle(&world, "alpha");
    assert_eq!(heard(&world), ["hello"]);
}
