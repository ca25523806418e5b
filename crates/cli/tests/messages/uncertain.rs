//! Messages that an agent does not record: nothing shows whether they arrived, and none is typed twice.

use std::time::Instant;

use segue_testkit::events::Events;
use segue_testkit::world::DEADLINE;
use segue_testkit::{Terminal, World, scene as kit};

use crate::scene::{
    agent, assert_error, assert_queued, messages, received, start_agent, states, wait_idle,
};
use crate::world;

/// A message that leaves no trace in the conversation.
const UNRECORDED: &str = "/stray";

#[test]
fn message_without_evidence_is_uncertain_and_is_not_typed_again() {
    let world = agent("alpha");
    let sender = world.start(["send", "alpha", UNRECORDED, "--timeout", "170s"]);
    let next = world.start(["send", "alpha", "after it", "--timeout", "170s"]);
    let sent = kit::finish(sender);
    assert_error(&sent, 4, "it is not known whether `default/alpha` got the message");
    assert!(sent.stderr.contains("segue attach default/alpha"), "{sent:#?}");
    let next = kit::finish(next);
    assert_eq!(next.status, 0, "{next:#?}");
    assert_eq!(received(&world)[1..], ["after it"]);
    let mut states = states(&world);
    states.sort();
    assert_eq!(states, ["delivered", "uncertain"]);
    let table = world.ok(["messages"]);
    let line = table.lines().find(|line| line.contains(UNRECORDED)).unwrap();
    assert!(line.contains("uncertain"), "{table}");
    let log = world.ok(["log", "alpha"]);
    assert!(log.contains("nothing shows whether it arrived"), "{log}");
}

#[test]
fn clock_set_back_while_a_message_is_typed_does_not_delay_its_result() {
    let mut world = world();
    let clock = world.root().join("clock");
    world.set("SEGUE_FAILPOINT_CLOCK", clock.to_str().unwrap());
    start_agent(&world, "alpha");
    let mut events = Events::of(&world);
    let sender = world.start(["send", "alpha", UNRECORDED, "--timeout", "170s"]);
    kit::wait_event(&mut events, "message_typed", "message ");
    std::fs::write(&clock, "-3600").unwrap();
    let sent = kit::finish(sender);
    assert_error(&sent, 4, "it is not known whether `default/alpha` got the message");
    assert_eq!(states(&world), ["uncertain"]);
}

/// Sends a message that the agent's process does not read, and kills all processes.
fn kill_while_typing(world: &World) {
    // From here on, typed text stays in the terminal's input buffer.
    let mut person = Terminal::start(&world.command(["attach", "alpha"]), 30, 100);
    person.wait_for("This conversation has 1 message");
    person.write("/deaf\r");
    person.wait_for("it reads nothing any more");
    drop(person);
    let late = world.segue(["send", "alpha", "lost on the way", "--timeout", "100ms"]);
    assert_queued(&late);
    let end = Instant::now() + DEADLINE;
    while states(world) != ["typing"] {
        assert!(Instant::now() < end, "the message was not typed: {:#?}", messages(world));
    }
    let id = messages(world)[0]["id"].as_str().unwrap().to_owned();
    let cancel = world.segue(["messages", "--cancel", &id]);
    assert_error(&cancel, 4, &format!("message `{id}` is being typed"));
    world.kill_everything();
}

#[test]
fn typed_message_that_is_not_in_the_transcript_is_delivered_after_resume() {
    let world = agent("alpha");
    kill_while_typing(&world);
    world.ok(["ls"]);
    assert_eq!(states(&world), ["queued"]);
    assert_eq!(world.resume(["alpha"]).status, 0);
    wait_idle(&world, "alpha");
    assert_eq!(received(&world)[1..], ["lost on the way"]);
}

#[test]
fn typed_message_is_uncertain_if_the_transcript_is_missing() {
    let world = agent("alpha");
    let transcript = kit::transcript(&world, &world.session("alpha"));
    kill_while_typing(&world);
    std::fs::remove_file(transcript).unwrap();
    world.ok(["ls"]);
    assert_eq!(states(&world), ["uncertain"]);
    assert_eq!(world.resume(["alpha"]).status, 0);
    wait_idle(&world, "alpha");
    assert_eq!(received(&world), ["hello"]);
}
