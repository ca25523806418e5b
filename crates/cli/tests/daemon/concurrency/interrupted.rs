//! A repeated resume finishes one that was interrupted.

use rustix::process::Signal;
use segue_testkit::conversation::{ask, wait_turns};
use segue_testkit::events::Events;
use segue_testkit::processes::send;
use segue_testkit::scene::{finish, text, wait_event};

use super::live_pid;
use crate::world;

const AGENTS: usize = 6;

/// Interrupts a resume of several agents with this signal. Checks that the next resume finishes it.
fn interrupt_resume(signal: Signal) {
    let world = world();
    for number in 0..AGENTS {
        let prompt = format!("remember the word cherry{number}");
        world.ok(["run", "-d", "--name", &format!("n{number}"), &prompt]);
    }
    for session in world.sessions() {
        wait_turns(&world, &session, 1);
    }
    world.kill_everything();

    let mut events = Events::of(&world);
    let resume = world.start(["resume", "--all"]);
    wait_event(&mut events, "launch_planned", "launch 2 (resume)");
    send(resume.id(), signal);
    finish(resume);

    let report = world.json(["resume", "--all", "--json"]);
    assert_eq!(report["complete"], true, "{report:#}");
    let agents = report["agents"].as_array().unwrap();
    assert_eq!(agents.len(), AGENTS);
    for agent in agents {
        assert!(["running", "resumed"].contains(&text(agent, "outcome")), "{agent}");
    }
    for (number, session) in world.sessions().iter().enumerate() {
        // One launch for the start and one for the resume: no session was started twice.
        assert_eq!(session["launches"], 2, "{session}");
        live_pid(session, "pid");
        let answer = ask(&world, session, "which word?");
        assert!(answer.contains(&format!("cherry{number}")), "{answer}");
    }
}

#[test]
fn resume_interrupted_by_sigint_is_finished_by_the_next_resume() {
    interrupt_resume(Signal::INT);
}

#[test]
fn resume_killed_by_sigkill_is_finished_by_the_next_resume() {
    interrupt_resume(Signal::KILL);
}
