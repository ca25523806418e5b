//! Events of a forge become tasks of agents, continue their conversations, and clean up.

mod every_forge;

use segue_core::model::{ForgeSubject, PullState, ReviewVerdict};
use segue_testkit::dispatch_scene::{DispatchScene, REPOSITORY, SECRET, TOKEN};
use segue_testkit::forge_server::DeliveredDetail;
use segue_testkit::scene::{self, kill_daemon, text};
use segue_testkit::{World, conversation, files};
use serde_json::{Value, json};

use crate::world;

const ASSIGNED: &str = "on = \"issue.assigned\"\nagent = \"coder\"\nreply = true";
const REVIEWED: &str = "on = \"pull.review_submitted\"\nagent = \"coder\"";
const COMMENTED: &str = "on = \"issue.commented\"\nagent = \"coder\"";

/// Creates a scene with the demo agent `coder`.
fn scene_with(rules: &[&str]) -> DispatchScene {
    let world = world();
    scene::write_shop(&world, "");
    DispatchScene::new(world, rules)
}

/// Returns the messages that the agent of a task's session has got.
fn received(world: &World, task: &Value) -> Vec<String> {
    let sessions = world.sessions();
    let session = sessions.iter().find(|it| it["session"] == task["session"]).unwrap();
    let transcript = conversation::transcript(world, text(session, "vendor_session_id")).unwrap();
    conversation::user_messages(&transcript)
}

#[test]
fn assigned_issue_becomes_a_task_whose_result_is_written_as_one_comment() {
    let scene = scene_with(&[ASSIGNED]);
    let number = scene.assign("Parser fails");
    let [task] = &scene.ended_tasks()[..] else { panic!("{:#?}", scene.tasks()) };
    assert_eq!((&task["state"], &task["agent"]), (&json!("done"), &json!("coder")), "{task:#}");
    assert_eq!(task["issue"], number.to_string());
    assert_eq!(task["branch"], format!("coder/issue-{number}"));
    let messages = received(&scene.world, task);
    let prompt = &messages[0];
    assert!(prompt.starts_with(&format!("Issue #{number} of {REPOSITORY} is your task.")));
    assert!(prompt.contains("> Parser fails\n>\n> Text of Parser fails"), "{prompt}");
    let mut events = segue_testkit::events::Events::of(&scene.world);
    events.wait_for(|event| event["kind"] == "reply_changed").unwrap();
    let comments = scene.forge.comments(REPOSITORY, ForgeSubject::Issue(number));
    assert_eq!(comments.len(), 1, "{comments:#?}");
    assert!(comments[0].body.starts_with("`coder` has ended its work."), "{comments:#?}");
    assert!(comments[0].body.contains("<!-- segue-reply "), "{comments:#?}");
}

#[test]
fn review_of_the_agents_pull_request_continues_the_conversation_of_its_issue() {
    let scene = scene_with(&[ASSIGNED, REVIEWED]);
    let number = scene.assign("Parser fails");
    let first = scene.ended_tasks().remove(0);
    let pull = scene.forge.change(|state| {
        let branch = format!("coder/issue-{number}");
        state.add_pull(REPOSITORY, &branch, "The parser.")
    });
    let review = scene.forge.change(|state| {
        let verdict = ("ada", ReviewVerdict::ChangesRequested);
        state.add_review(REPOSITORY, pull, verdict, &[("code.txt", 1, "Rename it.")])
    });
    let event = ("pull_request_review", "submitted", "ada");
    let detail = DeliveredDetail::Review(&review);
    assert_eq!(scene.deliver(ForgeSubject::Pull(pull), event, detail).status, 202);
    let tasks = scene.ended_tasks();
    let [_, second] = &tasks[..] else { panic!("{tasks:#?}") };
    assert_eq!(second["session"], first["session"], "{tasks:#?}");
    let messages = received(&scene.world, second);
    assert_eq!(messages.len(), 2, "{messages:#?}");
    assert!(messages[1].contains("Comment on `code.txt`, line 1, by @ada:\n> Rename it."));
}

#[test]
fn closed_issue_removes_the_worktree_and_a_reopened_one_continues_the_conversation() {
    let scene = scene_with(&[ASSIGNED, COMMENTED]);
    let number = scene.assign("Parser fails");
    let first = scene.ended_tasks().remove(0);
    let worktree = std::path::PathBuf::from(text(&first, "worktree"));
    std::fs::write(worktree.join("unsaved.txt"), "unsaved").unwrap();
    let subject = ForgeSubject::Issue(number);
    let mut events = segue_testkit::events::Events::of(&scene.world);
    let set_open = |is_open| {
        scene.forge.change(|state| {
            state.repository(REPOSITORY).issues.get_mut(&number).unwrap().is_open = is_open;
            state.tick();
        });
    };
    set_open(false);
    scene.deliver(subject, ("issues", "closed", "eve"), DeliveredDetail::None);
    events.wait_for(|event| event["kind"] == "issue_cleaned_up").unwrap();
    assert!(!worktree.exists());

    set_open(true);
    scene.deliver(subject, ("issues", "reopened", "ada"), DeliveredDetail::None);
    let comment = scene
        .forge
        .change(|state| state.add_comment(REPOSITORY, subject, "ada", "Please add a test."));
    let detail = DeliveredDetail::Comment(&comment);
    scene.deliver(subject, ("issue_comment", "created", "ada"), detail);
    let tasks = scene.ended_tasks();
    let [_, second] = &tasks[..] else { panic!("{tasks:#?}") };
    assert_eq!((&second["state"], &second["session"]), (&json!("done"), &first["session"]));
    let unsaved = std::fs::read_to_string(worktree.join("unsaved.txt")).unwrap();
    assert_eq!(unsaved, "unsaved");
}

#[test]
fn pull_request_closed_without_a_merge_cleans_up_for_each_agent_and_reopening_starts_nothing() {
    let world = world();
    scene::write_agents(&world, "shop", &["coder", "tester"]);
    let tested = ASSIGNED.replace("coder", "tester");
    let scene = DispatchScene::new(world, &[ASSIGNED, &tested]);
    let number = scene.assign("Parser fails");
    let tasks = scene.ended_tasks();
    let worktrees: Vec<_> =
        tasks.iter().map(|task| std::path::PathBuf::from(text(task, "worktree"))).collect();
    let [ours, theirs] = &worktrees[..] else { panic!("{tasks:#?}") };
    assert!(ours != theirs && ours.is_dir() && theirs.is_dir(), "{worktrees:?}");
    let pull = scene.forge.change(|state| {
        let pull = state.add_pull(REPOSITORY, &format!("coder/issue-{number}"), "The parser.");
        state.repository(REPOSITORY).pulls.get_mut(&pull).unwrap().state = PullState::Closed;
        pull
    });
    let mut events = segue_testkit::events::Events::of(&scene.world);
    let subject = ForgeSubject::Pull(pull);
    scene.deliver(subject, ("pull_request", "closed", "ada"), DeliveredDetail::None);
    events.wait_for(|event| event["kind"] == "issue_cleaned_up").unwrap();
    assert!(!ours.exists() && !theirs.exists(), "{worktrees:?}");

    let subject = ForgeSubject::Issue(number);
    scene.deliver(subject, ("issues", "reopened", "ada"), DeliveredDetail::None);
    let reopened = scene.processed().pop().unwrap();
    assert_eq!(reopened["actions"][0]["outcome"], "reopened", "{reopened:#}");
    assert_eq!(scene.tasks().len(), 2);
    assert!(!ours.exists() && !theirs.exists(), "{worktrees:?}");
}

#[test]
fn closed_issue_cancels_a_task_that_has_not_begun() {
    let scene = scene_with(&[ASSIGNED]);
    // The agent works on another task, so that the task about the issue stays in the queue.
    scene.world.ok(["task", "add", "--agent", "coder", "/hang"]);
    let number = scene.assign("Parser fails");
    scene.processed();
    scene.forge.change(|state| {
        state.repository(REPOSITORY).issues.get_mut(&number).unwrap().is_open = false;
        state.tick();
    });
    let mut events = segue_testkit::events::Events::of(&scene.world);
    let closed = ("issues", "closed", "ada");
    scene.deliver(ForgeSubject::Issue(number), closed, DeliveredDetail::None);
    events.wait_for(|event| event["kind"] == "issue_cleaned_up").unwrap();
    let tasks = scene.tasks();
    let issue = json!(number.to_string());
    let task = tasks.iter().find(|task| task["issue"] == issue).unwrap();
    assert_eq!(task["state"], "cancelled", "{tasks:#?}");
}

#[test]
fn events_of_strangers_programs_and_the_own_account_start_no_work() {
    let scene = scene_with(&[ASSIGNED, COMMENTED]);
    let number = scene.forge.change(|state| state.add_issue(REPOSITORY, "Parser fails", &[]));
    let subject = ForgeSubject::Issue(number);
    for login in ["eve", "segue-bot"] {
        let comment =
            scene.forge.change(|state| state.add_comment(REPOSITORY, subject, login, "Do it."));
        let detail = DeliveredDetail::Comment(&comment);
        scene.deliver(subject, ("issue_comment", "created", login), detail);
    }
    let reasons: Vec<Value> =
        scene.processed().iter().map(|it| it["actions"][0]["reason"].clone()).collect();
    let own = "`segue-bot` is the account of Segue itself";
    assert_eq!(reasons, [json!("`eve` has no write access"), json!(own)]);
    assert_eq!(scene.tasks(), Vec::<Value>::new());
}

#[test]
fn repeated_deliveries_start_one_task_also_after_the_daemon_was_killed() {
    let scene = scene_with(&[ASSIGNED]);
    let number = scene.assign("Parser fails");
    let subject = ForgeSubject::Issue(number);
    let assigned = ("issues", "assigned", "ada");
    let delivery = scene.delivery(subject, assigned, DeliveredDetail::Assignee("segue-bot"));
    scene.ended_tasks();
    kill_daemon(&scene.world);
    // The answer comes after the new daemon listens again.
    scene.world.ok(["serve"]);
    let again = scene.send(&delivery);
    assert_eq!((again.status, &again.body["message"]), (200, &json!("already received")));
    let id = text(&scene.processed()[0], "id").to_owned();
    scene.world.ok(["deliveries", "replay", &id]);
    let outcome = scene.processed()[0]["actions"][0]["outcome"].clone();
    assert_eq!(outcome, "task_known");
    assert_eq!(scene.tasks().len(), 1);
}

#[test]
fn delivery_that_is_not_genuine_is_refused_and_not_stored() {
    let scene = scene_with(&[ASSIGNED]);
    let number = scene.forge.change(|state| state.add_issue(REPOSITORY, "Parser", &["segue-bot"]));
    let subject = ForgeSubject::Issue(number);
    let assigned = ("issues", "assigned", "ada");
    let mut delivery = scene.delivery(subject, assigned, DeliveredDetail::Assignee("segue-bot"));
    delivery.body.push(b' ');
    assert_eq!(scene.send(&delivery).status, 401);
    delivery.headers.retain(|(name, _)| name != "x-hub-signature-256");
    assert_eq!(scene.send(&delivery).status, 401);
    assert_eq!(scene.client.deliver("unknown", &[], b"{}").status, 404);
    assert_eq!(scene.processed(), Vec::<Value>::new());
}

#[test]
fn test_of_the_rules_prints_the_exact_prompt_and_changes_nothing() {
    let scene = scene_with(&[ASSIGNED, COMMENTED]);
    let number = scene.forge.change(|state| state.add_issue(REPOSITORY, "Parser", &["segue-bot"]));
    let subject = ForgeSubject::Issue(number);
    let assigned = ("issues", "assigned", "ada");
    let delivery = scene.delivery(subject, assigned, DeliveredDetail::Assignee("segue-bot"));
    let file = scene.world.root().join("payload.json");
    std::fs::write(&file, &delivery.body).unwrap();
    let file = file.display().to_string();
    let words = ["dispatch", "test", &file, "--source", "hub", "--event", "issues", "--json"];
    let report = scene.world.json(words);
    let rules = &report["events"][0]["rules"];
    assert!(text(&rules[0]["task"], "prompt").contains("> Parser"), "{report:#}");
    assert_eq!(rules[1]["reason"], "it is about `issue.commented`", "{report:#}");
    assert_eq!(scene.tasks(), Vec::<Value>::new());
    assert_eq!(scene.world.segue(["dispatch", "test", &file]).status, 2);
}

#[test]
fn missed_assignment_is_found_at_the_start_of_the_daemon() {
    let scene = scene_with(&[ASSIGNED]);
    scene.forge.change(|state| state.add_issue(REPOSITORY, "Missed", &["segue-bot"]));
    scene.world.ok(["daemon", "stop"]);
    let mut events = segue_testkit::events::Events::of(&scene.world);
    events
        .wait_for(|event| event["kind"] == "task_changed" && event["data"]["state"] == "done")
        .unwrap();
    let tasks = scene.tasks();
    assert_eq!((tasks.len(), &tasks[0]["state"]), (1, &json!("done")), "{tasks:#?}");
}

#[test]
fn secrets_of_the_forge_are_in_no_file_but_their_own() {
    let scene = scene_with(&[ASSIGNED]);
    scene.assign("Parser fails");
    scene.ended_tasks();
    for (secret, own) in [(SECRET, "hook-secret"), (TOKEN, "forge-token")] {
        let own = scene.world.root().join(own);
        let traces = files::containing(scene.world.root(), secret);
        assert_eq!(traces.iter().filter(|path| **path != own).count(), 0, "{traces:#?}");
    }
}
