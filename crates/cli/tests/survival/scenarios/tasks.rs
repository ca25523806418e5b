//! Tasks are added, and report to their parents.

use segue_testkit::stand_in::StandIn;
use segue_testkit::world::CommandOutcome;
use segue_testkit::{World, conversation, scene};
use serde_json::{Value, json};

use super::{NAME, Scenario, first_session, is_first, prompt, wait_all, with_project};

/// The key of the task.
const TASK: &str = "nightly";

/// The key of a task that is a part of [`TASK`].
const PART: &str = "part";

/// The agent that works on the part.
const PART_AGENT: &str = "beta";

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "task",
        prepare: with_project,
        act: add_task,
        settle: |world| drop(world.segue(["task", "wait", TASK])),
        check: task_was_true,
        repeat: |world| {
            let again = add_task(world);
            assert_eq!(again.status, 0, "{again:#?}");
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "task-report",
        prepare: |world| {
            with_project(world);
            assert_eq!(add_task(world).status, 0);
        },
        act: add_part,
        settle: |world| {
            drop(world.segue(["task", "wait", PART]));
            wait_all(world, |session| !is_first(session) || session["queued_messages"] == 1);
        },
        check: |world, outcome| {
            if outcome.status == 0 {
                parent_gets_one_report(world);
            }
        },
        repeat: |world| {
            let again = add_part(world);
            assert_eq!(again.status, 0, "{again:#?}");
            parent_gets_one_report(world);
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "agent-report",
        prepare: |world| {
            with_parent_and_child(world);
            StandIn::with_new_daemon(world, &world.session(CHILD));
        },
        act: |world| report(world, "half of it"),
        settle: |world| {
            wait_all(world, |session| {
                let is_down = ["interrupted", "ended"].iter().any(|it| session["status"] == *it);
                !is_first(session) || is_down || has_received(world, session, "half of it")
            });
        },
        check: |world, outcome| {
            bring_back(world, CHILD);
            if outcome.status == 0 {
                parent_gets_text_once(world, "half of it");
            }
        },
        repeat: |world| {
            StandIn::with_new_daemon(world, &world.session(CHILD));
            assert_eq!(report(world, "all of it").status, 0);
            bring_back(world, CHILD);
            parent_gets_text_once(world, "all of it");
            assert!(times_received(world, &world.session(NAME), "half of it") <= 1);
        },
        ..Scenario::PLAIN
    },
];

/// The session that [`NAME`] starts.
const CHILD: &str = "beta";

/// Adds a task for the agent `alpha` and waits for its end. A repeated command finds the same task.
pub(super) fn add_task(world: &World) -> CommandOutcome {
    world.segue(["task", "add", "--agent", NAME, "--key", TASK, "--wait", &prompt(NAME)])
}

/// Checks that the task has ended once, and that its answer is the printed one.
fn task_was_true(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        let task = &world.json(["task", "show", TASK, "--json"])["task"];
        let answer = task["result"]["answer"].as_str().unwrap();
        assert_eq!(outcome.stdout, format!("{answer}\n"));
        assert_eq!((&task["state"], &task["attempts"]), (&json!("done"), &json!(1)), "{task:#}");
        assert_eq!(world.sessions().len(), 1, "{:#?}", world.sessions());
    }
}

/// Adds a task that is a part of the first task, and waits for its end.
fn add_part(world: &World) -> CommandOutcome {
    let add = ["task", "add", "--agent", PART_AGENT, "--key", PART, "--parent", TASK, "--wait"];
    CommandOutcome::of(world.command(add).arg(prompt(PART_AGENT)))
}

/// Checks that the session of the parent gets the report about its part exactly once.
fn parent_gets_one_report(world: &World) {
    let name = &first_session(world);
    scene::wait_session(world, name, |session| session["queued_messages"] == 1);
    assert_eq!(world.resume([name.as_str()]).status, 0);
    world.ok(["wait", name, "--for", "idle", "--timeout", "170s"]);
    let id = world.session(name)["vendor_session_id"].as_str().unwrap().to_owned();
    let received = conversation::user_messages(&conversation::transcript(world, &id).unwrap());
    let reports = received.iter().filter(|text| text.contains(&format!("`{PART}`"))).count();
    assert_eq!(reports, 1, "{received:?}");
    assert_eq!(world.session(name)["queued_messages"], 0);
}

/// Lets the agent of one session start another session.
fn with_parent_and_child(world: &World) {
    world.ok(["run", "-d", "--name", NAME, &prompt(NAME)]);
    let parent = scene::wait_session(world, NAME, |it| it["status"] == "idle");
    let shell = StandIn::with_new_daemon(world, &parent);
    let start = format!("$SEGUE run -d --name {CHILD} '{}'", prompt(CHILD));
    assert_eq!(shell.run(&start).status, 0);
    bring_back(world, NAME);
    scene::wait_session(world, CHILD, |it| it["status"] == "idle");
}

/// Replaces the shell of a session by its agent.
fn bring_back(world: &World, name: &str) {
    let session = world.session(name);
    for key in ["holder_pid", "pid"] {
        if session[key].is_number() {
            scene::kill(scene::pid(&session, key));
        }
    }
    assert_eq!(world.resume([name]).status, 0);
    world.ok(["wait", name, "--for", "idle", "--timeout", "170s"]);
}

/// Lets the agent of the child report to its parent.
fn report(world: &World, text: &str) -> CommandOutcome {
    let child = StandIn::launched(world, &world.session(CHILD));
    child.run(&format!("$SEGUE task report '{text}'"))
}

/// Returns whether a session has read a report with this text, and does nothing more.
fn has_received(world: &World, session: &Value, text: &str) -> bool {
    let is_at_rest = session["status"] == "idle" && session["queued_messages"] == 0;
    is_at_rest && times_received(world, session, text) > 0
}

/// Returns how often a session has received a report with this text.
fn times_received(world: &World, session: &Value, text: &str) -> usize {
    let id = scene::text(session, "vendor_session_id");
    let received = conversation::user_messages(&conversation::transcript(world, id).unwrap());
    received.iter().filter(|message| message.contains(text)).count()
}

fn parent_gets_text_once(world: &World, text: &str) {
    assert_eq!(world.resume([NAME]).status, 0);
    let parent = scene::wait_session(world, NAME, |it| has_received(world, it, text));
    assert_eq!(times_received(world, &parent, text), 1);
}

/// Waits until a task has ended, or waits for a person. Returns its state.
pub(super) fn state_after_wait(world: &World, key: &str) -> String {
    let _state_is_shown_below = world.segue(["task", "wait", key]);
    let task = world.json(["task", "show", key, "--json"]);
    task["task"]["state"].as_str().unwrap().to_owned()
}
