//! A task that has ended reports to the session of its parent, once.

use segue_testkit::scene::{self, text};
use segue_testkit::{World, conversation, hold};
use serde_json::Value;

use super::{received, session, show, wait, world_with_coder};

/// Adds a task with these further arguments, and returns its id.
fn add_with(world: &World, arguments: &[&str]) -> String {
    let mut command = world.command(["task", "add", "--agent", "coder"]);
    let outcome = segue_testkit::CommandOutcome::of(command.args(arguments));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    outcome.stdout.trim().to_owned()
}

/// Returns the messages of the session of a task that have this state.
fn messages(world: &World, task: &Value, state: &str) -> Vec<Value> {
    let address = session(world, task)["address"].as_str().unwrap().to_owned();
    let all = world.json(["messages", &address, "--json"])["messages"].as_array().unwrap().clone();
    all.into_iter().filter(|message| message["state"] == state).collect()
}

#[test]
fn running_parent_gets_the_end_and_the_answer_of_its_child_as_a_message() {
    let world = world_with_coder();
    let parent = add_with(&world, &["--interactive", "remember the word amber"]);
    let parent = wait(&world, &parent);
    let id = text(&parent, "id");
    let child = add_with(&world, &["--parent", id, "--key", "part", "remember the word cedar"]);
    assert_eq!(wait(&world, &child)["state"], "done");
    conversation::wait_messages(&world, &session(&world, &parent), 2);
    let report = received(&world, &parent).pop().unwrap();
    for words in [child.as_str(), "`part`", "done", "I will remember cedar."] {
        assert!(report.contains(words), "{words}: {report}");
    }
    assert_eq!(received(&world, &parent).len(), 2);
}

#[test]
fn parent_that_does_not_run_gets_the_report_at_its_next_launch_after_the_daemon_was_killed() {
    let mut world = world_with_coder();
    let parent = wait(&world, &add_with(&world, &["remember the word amber"]));
    let id = text(&parent, "id").to_owned();
    world.ok(["daemon", "stop"]);
    hold::kill_both_at(&mut world, "task.end.after", |world| {
        world.start(["task", "add", "--agent", "coder", "--key", "part", "--parent", &id, "hello"])
    });
    assert_eq!(show(&world, "part")["state"], "done");
    let name = text(&session(&world, &parent), "name").to_owned();
    scene::wait_session(&world, &name, |session| session["queued_messages"] == 1);
    assert_eq!(received(&world, &parent).len(), 1);
    scene::kill_daemon(&world);
    world.resume([name.as_str()]);
    conversation::wait_messages(&world, &session(&world, &parent), 2);
    assert!(received(&world, &parent)[1].contains("`part`"));
    assert_eq!(messages(&world, &parent, "queued").len(), 0);
}

#[test]
fn parent_that_starts_later_gets_the_report_of_a_cancelled_child() {
    let world = world_with_coder();
    let first = add_with(&world, &["/hang"]);
    let parent = add_with(&world, &["--interactive", "remember the word amber"]);
    let child = add_with(&world, &["--parent", &parent, "--key", "part", "hello"]);
    world.ok(["task", "cancel", &child]);
    world.ok(["task", "cancel", &first]);
    let parent = wait(&world, &parent);
    assert_eq!(parent["state"], "done", "{parent:#}");
    conversation::wait_messages(&world, &session(&world, &parent), 2);
    let received = received(&world, &parent);
    assert!(
        received.iter().any(|it| it.contains("`part`") && it.contains("cancelled")),
        "{received:?}"
    );
}
