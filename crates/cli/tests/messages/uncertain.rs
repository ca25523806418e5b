//! An agent that swallows what it is told: nobody can tell, and nothing is typed twice.

use rustix::process::Signal;
use segue_testkit::{Outcome, World, processes, scene as kit};

use crate::scene::{agent, assert_error, heard, messages, queued_as, states, wait_idle};

/// A message that leaves no trace in the conversation.
const SWALLOWED: &str = "/stray";

#[test]
fn what_nothing_shows_is_uncertain_and_is_not_typed_again() {
    let world = agent("alpha");
    let sender = world.start(["send", "alpha", SWALLOWED, "--timeout", "50s"]);
    let next = world.start(["send", "alpha", "after it", "--timeout", "50s"]);
    let told = Outcome::from(sender.wait_with_output().unwrap());
    assert_error(&told, 4, "nobody can tell whether `default/alpha` took it");
    assert!(told.stderr.contains("segue attach default/alpha"), "{told:#?}");
    let next = Outcome::from(next.wait_with_output().unwrap());
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

/// Tells an agent something that its process takes no notice of, and kills everything.
fn killed_on_the_way(world: &World) {
    let session = world.session("alpha");
    // It reads nothing any more: what is typed stays in the terminal.
    processes::send(kit::process(&session, "pid"), Signal::STOP);
    let late = world.segue(["send", "alpha", "lost on the way", "--timeout", "100ms"]);
    queued_as(&late);
    assert!(late.stderr.contains("nothing shows yet that it arrived"), "{late:#?}");
    assert_eq!(states(world), ["typing"]);
    let on_its_way = messages(world)[0]["id"].as_str().unwrap().to_owned();
    let cancel = world.segue(["messages", "--cancel", &on_its_way]);
    assert_error(&cancel, 4, &format!("message `{on_its_way}` is on its way"));
    world.kill_everything();
}

#[test]
fn what_never_got_into_the_transcript_is_told_again() {
    let world = agent("alpha");
    killed_on_the_way(&world);
    world.ok(["ls"]);
    assert_eq!(states(&world), ["queued"]);
    assert_eq!(world.resume(["alpha"]).status, 0);
    wait_idle(&world, "alpha");
    assert_eq!(heard(&world)[1..], ["lost on the way"]);
}

#[test]
fn what_was_on_its_way_into_a_transcript_that_is_gone_is_uncertain() {
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
