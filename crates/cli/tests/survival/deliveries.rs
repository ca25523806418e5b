//! Deliveries of a forge, while the daemon is killed at any step from the receipt to the cleanup:
//! nothing is lost, and nothing is done twice.

use std::path::PathBuf;

use segue_core::model::ForgeSubject;
use segue_testkit::chance::Chance;
use segue_testkit::dispatch_scene::{DispatchScene, REPOSITORY};
use segue_testkit::events::Events;
use segue_testkit::forge_server::{DeliveredDetail, ServedDelivery};
use segue_testkit::passing::Passing;
use segue_testkit::scene::{kill_daemon, text, write_shop};
use segue_testkit::{World, is_soak};
use serde_json::Value;

use crate::failpoints::{self, Point};
use crate::world;

const RULES: [&str; 2] = [
    "on = \"issue.assigned\"\nagent = \"coder\"\nreply = true",
    "on = \"issue.commented\"\nagent = \"coder\"\nreply = true",
];

/// The steps from the receipt of a delivery to the cleanup after its issue was closed.
const STEPS: [&str; 12] = [
    "delivery.store.before",
    "delivery.store.after",
    "delivery.process.before",
    "delivery.process.after",
    "reply.post.before",
    "reply.post.after",
    "reply.record.before",
    "reply.record.after",
    "issue.record.before",
    "issue.record.after",
    "issue.cleanup.before",
    "issue.cleanup.after",
];

fn scene(world: World) -> DispatchScene {
    write_shop(&world, "");
    DispatchScene::new(world, &RULES)
}

/// Sends a delivery until the daemon answers that it is stored.
fn send(scene: &DispatchScene, delivery: &ServedDelivery) {
    loop {
        // The answer comes after the new daemon listens again.
        scene.world.segue(["serve"]);
        if matches!(scene.send(delivery).status, 200 | 202) {
            return;
        }
    }
}

/// Waits until a condition is met. Looks again after each event, and starts a daemon that was killed.
fn wait_until(scene: &DispatchScene, mut is_met: impl FnMut() -> bool) {
    loop {
        let mut events = Events::of(&scene.world);
        while !is_met() {
            if events.wait_for(|_| true).is_none() {
                break;
            }
        }
        if is_met() {
            return;
        }
    }
}

fn has_ended(task: &Value) -> bool {
    matches!(task["state"].as_str(), Some("done" | "failed" | "cancelled"))
}

/// Kills the daemon after some steps of its work, or when there is no work left.
fn kill_during_work(scene: &DispatchScene, passing: &Passing, chance: &mut Chance) {
    let tasks = scene.tasks();
    if let Some(task) = tasks.iter().rfind(|task| !has_ended(task)) {
        let mut waits = [scene.world.start(["task", "wait", text(task, "id")])];
        passing.wait(1 + chance.below(30), &waits);
        kill_daemon(&scene.world);
        waits[0].wait().unwrap();
    } else {
        kill_daemon(&scene.world);
    }
}

#[test]
fn sigkill_at_any_step_of_a_delivery_loses_nothing_and_repeats_nothing() {
    for step in STEPS {
        let mut world = world();
        let point = Point { role: "daemon".to_owned(), name: step.to_owned() };
        failpoints::kill_at(&mut world, &point, 1);
        let mut scene = scene(world);
        failpoints::open_gate(&scene.world);
        let number = scene.forge.change(|state| state.add_issue(REPOSITORY, "It", &["segue-bot"]));
        let subject = ForgeSubject::Issue(number);
        let event = ("issues", "assigned", "ada");
        let assigned = scene.delivery(subject, event, DeliveredDetail::Assignee("segue-bot"));
        send(&scene, &assigned);
        let comments = || scene.forge.comments(REPOSITORY, subject).len();
        wait_until(&scene, || scene.tasks().iter().any(has_ended) && comments() == 1);
        scene.forge.change(|state| {
            state.repository(REPOSITORY).issues.get_mut(&number).unwrap().is_open = false;
            state.tick();
        });
        let closed = scene.delivery(subject, ("issues", "closed", "ada"), DeliveredDetail::None);
        send(&scene, &closed);
        let worktree = PathBuf::from(text(&scene.tasks()[0], "worktree"));
        let log = || scene.world.segue(["log", "--json"]).stdout;
        wait_until(&scene, || log().contains("issue_cleaned_up"));
        assert!(!worktree.exists(), "{step}");
        assert!(failpoints::has_killed(&scene.world), "{step} was not passed");
        failpoints::disarm(&mut scene.world);
        kill_daemon(&scene.world);
        scene.processed();
        let tasks = scene.tasks();
        assert_eq!(tasks.len(), 1, "{step}: {tasks:#?}");
        assert_eq!(tasks[0]["state"], "done", "{step}: {tasks:#?}");
        let comments = scene.forge.comments(REPOSITORY, subject);
        assert_eq!(comments.len(), 1, "{step}: {comments:#?}");
    }
}

#[test]
fn every_delivery_starts_one_task_and_writes_one_comment_after_random_kills() {
    let (deliveries, kills) = if is_soak() { (1000, 100) } else { (16, 6) };
    let mut world = world();
    let passing = Passing::count(&mut world);
    let scene = scene(world);
    let mut chance = Chance::new();
    let issues: Vec<u64> = scene.forge.change(|state| {
        (0..4).map(|it| state.add_issue(REPOSITORY, &format!("Issue {it}"), &[])).collect()
    });
    for number in 0..deliveries {
        let subject = ForgeSubject::Issue(issues[number % issues.len()]);
        let comment = scene.forge.change(|state| {
            // The brake of an issue stops more than 20 tasks within an hour.
            state.add_comment(REPOSITORY, subject, "ada", &format!("remember the word w{number}"))
        });
        let event = ("issue_comment", "created", "ada");
        let delivery = scene.delivery(subject, event, DeliveredDetail::Comment(&comment));
        send(&scene, &delivery);
        if chance.below(deliveries) < kills {
            kill_during_work(&scene, &passing, &mut chance);
        }
    }
    let processed = scene.processed();
    assert_eq!(processed.len(), deliveries);
    let tasks = scene.ended_tasks();
    let allowed = deliveries.min(20 * issues.len());
    assert_eq!(tasks.len(), allowed, "{tasks:#?}");
    let done = tasks.iter().filter(|task| task["state"] == "done").count();
    let written = || {
        let own = |number: &u64| scene.forge.comments(REPOSITORY, ForgeSubject::Issue(*number));
        let all = issues.iter().flat_map(own);
        all.filter(|comment| comment.body.contains("segue-reply")).count()
    };
    wait_until(&scene, || written() >= tasks.len());
    assert_eq!(written(), tasks.len(), "a comment was written twice");
    println!("{done} of {} tasks are done", tasks.len());
    assert!(done * 2 > tasks.len(), "most tasks are done: {tasks:#?}");
}
