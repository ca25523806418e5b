//! `segue send --command`: commands of the vendor's program, typed once like messages.

use segue_testkit::scene;
use segue_testkit::stand_in::StandIn;

use crate::scene::{agent, assert_error, assert_queued, headless, messages, states, wait_idle};

#[test]
fn command_is_run_once_and_ends_with_its_turn() {
    let world = agent("alpha");
    let answer = world.ok(["send", "alpha", "--wait", "--command", "/slow 0"]);
    assert!(!answer.trim().is_empty(), "{answer}");
    assert_eq!(states(&world), ["delivered"]);
    assert_eq!(messages(&world)[0]["text"], "/slow 0");
}

#[test]
fn command_to_a_stopped_agent_is_run_after_its_resume() {
    let world = agent("alpha");
    world.ok(["stop", "alpha"]);
    assert_queued(&world.segue(["send", "alpha", "--command", "/slow 0"]));
    scene::kill_daemon(&world);
    assert_eq!(world.resume(["alpha"]).status, 0);
    wait_idle(&world, "alpha");
    assert_eq!(states(&world), ["delivered"]);
}

#[test]
fn unknown_command_is_refused_with_the_names_of_known_ones() {
    let world = agent("alpha");
    let refused = world.segue(["send", "alpha", "--command", "/quit"]);
    assert_error(&refused, 2, "a message cannot run the command `/quit`");
    assert!(refused.stderr.contains("hint: it can run /ask, /slow, /tool"), "{refused:#?}");
    for text in ["quit", "/slow 1\n/quit", "/../x"] {
        let refused = world.segue(["send", "alpha", "--command", text]);
        assert_eq!(refused.status, 2, "{refused:#?}");
    }
    assert_eq!(states(&world), [""; 0]);
}

#[test]
fn headless_session_and_an_agent_run_no_commands() {
    let world = headless("alpha");
    let refused = world.segue(["send", "alpha", "--command", "/slow 0"]);
    assert_error(&refused, 2, "`default/alpha` has no terminal");
    let world = agent("alpha");
    let alpha = StandIn::with_new_daemon(&world, &world.session("alpha"));
    let outcome = alpha.run("$SEGUE send alpha --no-wait --command '/slow 0'");
    assert_eq!(outcome.status, 2, "{outcome:#?}");
    assert!(outcome.stderr.starts_with("error: an agent may not run commands"), "{outcome:#?}");
}
