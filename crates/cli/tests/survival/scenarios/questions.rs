//! Agents ask a person, who answers.

use segue_testkit::world::CommandOutcome;
use segue_testkit::{World, scene};

use super::tasks::{add_task, state_after_wait};
use super::{NAME, Scenario, first_session, wait_all, with_project, with_session};

/// The key of the task whose agent asks.
const ASKING: &str = "asking";

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "answer",
        prepare: |world| {
            with_session(world);
            world.ok(["send", NAME, "/ask"]);
            wait_asking(world);
        },
        act: answer,
        settle: |world| wait_all(world, |session| session["status"] != "waiting"),
        check: |world, outcome| {
            if outcome.status == 0 {
                wait_idle(world);
            }
        },
        repeat: |world| {
            let again = answer(world);
            // The first command may have given the answer.
            assert!([0, 4].contains(&again.status), "{again:#?}");
            wait_idle(world);
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "task-question",
        prepare: |world| {
            with_project(world);
            assert_eq!(add_task(world).status, 0);
        },
        act: add_asking_task,
        settle: |world| wait_all(world, |session| session["status"] == "waiting"),
        check: |world, outcome| {
            if outcome.status == 0 {
                answer_until_done(world);
            }
        },
        repeat: |world| {
            let again = add_asking_task(world);
            assert_eq!(again.status, 0, "{again:#?}");
            answer_until_done(world);
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "task-answer",
        prepare: |world| {
            with_project(world);
            assert_eq!(add_task(world).status, 0);
            assert_eq!(add_asking_task(world).status, 0);
            wait_asking(world);
        },
        act: answer,
        settle: |world| wait_all(world, |session| session["status"] == "idle"),
        check: |world, outcome| {
            if outcome.status == 0 {
                answer_until_done(world);
            }
        },
        repeat: answer_until_done,
        ..Scenario::PLAIN
    },
];

fn wait_asking(world: &World) {
    let name = first_session(world);
    scene::wait_session(world, &name, |session| session["dialog"].is_object());
}

fn answer(world: &World) -> CommandOutcome {
    world.segue(["answer", &first_session(world), "yes"])
}

/// Waits until the turn is over. A session that did not survive is resumed later.
fn wait_idle(world: &World) {
    let waited = world.segue(["wait", NAME, "--for", "idle", "--timeout", "170s"]);
    assert!([0, 4].contains(&waited.status), "{waited:#?}");
}

/// Adds a task that continues the conversation of the first one, and whose agent asks a person.
fn add_asking_task(world: &World) -> CommandOutcome {
    let session = first_session(world);
    let add = ["task", "add", "--agent", NAME, "--session", &session, "--key", ASKING, "/ask"];
    CommandOutcome::of(&mut world.command(add))
}

/// Answers the questions of the task's agent until the task is done. An agent that was killed while it
/// asked is brought back, and may ask again.
fn answer_until_done(world: &World) {
    while state_after_wait(world, ASKING) == "waiting" {
        let answered = answer(world);
        assert!([0, 4].contains(&answered.status), "{answered:#?}");
    }
    assert_eq!(state_after_wait(world, ASKING), "done");
}
