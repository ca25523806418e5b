//! Events of a forge become tasks of agents, continue their conversations, and clean up.

mod every_forge;

use std::fs;

use segue_core::model::{ForgeSubject, PullState, ReviewVerdict};
use segue_testkit::dispatch_scene::{DispatchScene, REPOSITORY, SECRET, TOKEN};
use segue_testkit::forge_server::{DeliveredDetail, ForgeServerFault};
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
    let issue = number.to_string();
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

/// Changes `config.toml` as an editor does it: the new file takes the place of the old one.
fn edit_settings(world: &World, change: impl FnOnce(String) -> String) {
    let path = world.segue_home().join("config.toml");
    let new = path.with_extension("new");
    fs::write(&new, change(fs::read_to_string(&path).unwrap())).unwrap();
    fs::rename(new, path).unwrap();
}

/// Waits until this many tasks are done, and returns all tasks.
fn done_tasks(scene: &DispatchScene, count: usize) -> Vec<Value> {
    let mut events = segue_testkit::events::Events::of(&scene.world);
    loop {
        let tasks = scene.tasks();
        if tasks.iter().filter(|it| it["state"] == "done").count() >= count {
            return tasks;
        }
        events.wait_for(|event| event["kind"] == "task_changed").unwrap();
    }
}

#[test]
fn polled_source_finds_the_agents_pull_request_its_review_and_its_ci_run_without_deliveries() {
    const FAILED: &str = "on = \"ci.failed\"\nagent = \"coder\"";
    const LABELED: &str = "on = \"issue.labeled\"\nagent = \"coder\"\nwhen.label = \"bug\"";
    let scene = scene_with(&[ASSIGNED, REVIEWED, FAILED, LABELED]);
    let number = scene.forge.change(|state| {
        state.now = jiff::Timestamp::now();
        state.add_issue(REPOSITORY, "Parser fails", &["segue-bot"])
    });
    // The running daemon uses the new interval.
    edit_settings(&scene.world, |text| {
        text.replace("forge = \"github\"\n", "forge = \"github\"\npoll = \"10s\"\n")
    });
    let first = done_tasks(&scene, 1).remove(0);
    let branch = format!("coder/issue-{number}");
    scene.forge.change(|state| {
        state.now = jiff::Timestamp::now();
        let pull = state.add_pull(REPOSITORY, &branch, "The parser.");
        let verdict = ("ada", ReviewVerdict::ChangesRequested);
        state.add_review(REPOSITORY, pull, verdict, &[("code.txt", 1, "Rename it.")]);
    });
    let tasks = done_tasks(&scene, 2);
    let [_, second] = &tasks[..] else { panic!("{tasks:#?}") };
    assert_eq!(second["session"], first["session"], "{tasks:#?}");
    assert!(received(&scene.world, second)[1].contains("> Rename it."));

    let other = scene.forge.change(|state| {
        state.finish_run(REPOSITORY, &branch, ("tests", true));
        let other = state.add_issue(REPOSITORY, "Other", &[]);
        let subject = ForgeSubject::Issue(other);
        state.change_subject((REPOSITORY, subject), ("labeled", "bug"), "ada");
        other
    });
    let tasks = done_tasks(&scene, 4);
    let issues: Vec<&str> = tasks.iter().map(|task| text(task, "issue")).collect();
    let (mine, other) = (number.to_string(), other.to_string());
    assert_eq!(issues.iter().filter(|it| **it == mine).count(), 3, "{tasks:#?}");
    assert_eq!(issues.iter().filter(|it| **it == other).count(), 1, "{tasks:#?}");
}

#[test]
fn source_that_is_added_while_the_daemon_runs_is_asked_without_a_restart() {
    let scene = scene_with(&[ASSIGNED]);
    scene.world.ok(["daemon", "stop"]);
    let path = scene.world.segue_home().join("config.toml");
    let settings = fs::read_to_string(&path).unwrap();
    fs::write(&path, "").unwrap();
    scene.forge.change(|state| state.add_issue(REPOSITORY, "Missed", &["segue-bot"]));
    assert_eq!(scene.tasks(), Vec::<Value>::new());
    edit_settings(&scene.world, |_| settings);
    assert_eq!(done_tasks(&scene, 1).len(), 1);
}

#[test]
fn sweep_asks_the_forge_about_an_issue_that_no_forge_delivered() {
    let scene = scene_with(&[]);
    let number = scene.forge.change(|state| state.add_issue(REPOSITORY, "By hand", &[]));
    // Git reaches the repository by the same name as the forge.
    let origins = scene.world.root().join("origins");
    fs::create_dir(origins.join("team")).unwrap();
    fs::rename(origins.join("app.git"), origins.join("team/app.git")).unwrap();
    let (url, issue) = (scene.git.url("team/app.git"), number.to_string());
    edit_settings(&scene.world, |text| format!("[sweep]\nclosed = \"0s\"\n{text}"));
    let words = ["task", "add", "--agent", "coder", "--repo", &url, "--issue", &issue, "hello"];
    scene.world.ok(words);
    done_tasks(&scene, 1);
    let session = scene.tasks()[0]["session"].as_str().unwrap().to_owned();
    scene.world.ok(["stop", &session]);
    let swept = |expected: u8| {
        let outcome = scene.world.segue(["sweep", "--json"]);
        assert_eq!(outcome.status, i32::from(expected), "{outcome:?}");
        serde_json::from_str::<Value>(&outcome.stdout).unwrap()
    };
    assert_eq!(swept(0)["removed"], json!([]), "the issue is open");
    let subject = (REPOSITORY, ForgeSubject::Issue(number));
    scene.forge.change(|state| state.change_subject(subject, ("closed", ""), "segue-bot"));
    scene.forge.fail(&format!("/issues/{number}"), 1, ForgeServerFault::status(500));
    let failed = swept(8);
    assert_eq!(failed["removed"], json!([]), "{failed:#}");
    assert_eq!(failed["failed"][0]["target"], "source hub", "{failed:#}");
    let report = swept(0);
    assert_eq!(report["removed"][0]["kind"], "worktree", "{report:#}");
    assert!(text(&report["removed"][0], "reason").starts_with("its issue is closed"));
}

#[test]
fn content_of_an_old_delivery_is_removed_and_the_same_delivery_starts_no_work() {
    let scene = scene_with(&[ASSIGNED]);
    let number = scene.forge.change(|state| state.add_issue(REPOSITORY, "Old", &["segue-bot"]));
    let subject = ForgeSubject::Issue(number);
    let detail = DeliveredDetail::Assignee("segue-bot");
    let delivery = scene.delivery(subject, ("issues", "assigned", "ada"), detail);
    assert_eq!(scene.send(&delivery).status, 202);
    scene.ended_tasks();
    edit_settings(&scene.world, |text| format!("[sweep]\ndeliveries = \"0s\"\n{text}"));
    let report = scene.world.json(["sweep", "--json"]);
    assert_eq!(report["removed"][0]["kind"], "delivery", "{report:#}");

    let id = text(&scene.processed()[0], "id").to_owned();
    let shown = scene.world.ok(["deliveries", "show", &id]);
    assert!(shown.contains("content   removed, because the delivery is old"), "{shown}");
    assert!(shown.contains("issue.assigned for coder: task "), "{shown}");
    assert_eq!(scene.world.segue(["deliveries", "replay", &id]).status, 3);
    assert_eq!(scene.world.segue(["dispatch", "test", &id]).status, 3);
    let again = scene.send(&delivery);
    assert!(again.status == 200 && again.text.contains("already received"), "{}", again.text);
    assert_eq!(scene.tasks().len(), 1);
}

#[test]
fn deliveries_are_listed_in_pages_and_read_by_their_ids() {
    let scene = scene_with(&[ASSIGNED]);
    let numbers = [scene.assign("One"), scene.assign("Two")];
    scene.ended_tasks();
    let client = scene.client.with_scopes(&scene.world, "reader", &["read"]);
    let page = client.get("/v1/deliveries?limit=1&source=hub&state=processed");
    assert_eq!(page.status, 200, "{}", page.text);
    let newest = page.body["deliveries"][0].clone();
    let cursor = page.body["next"].as_str().unwrap().to_owned();
    let second = client.get(&format!("/v1/deliveries?limit=1&cursor={cursor}")).body;
    assert_eq!(second["next"], Value::Null, "{second:#}");
    assert!(second["deliveries"][0]["received_at"].as_str() < newest["received_at"].as_str());
    let none = client.get("/v1/deliveries?state=failed").body;
    assert_eq!(none["deliveries"], json!([]));
    let shown = client.get(&format!("/v1/deliveries/{}", text(&newest, "id"))).body;
    assert_eq!(shown["delivery"], newest);
    let body: Value = serde_json::from_str(text(&shown, "body")).unwrap();
    assert_eq!(body["issue"]["number"], numbers[1]);
    for (path, status) in [("x", 400), ("0198f9d2-0000-7000-8000-000000000000", 404)] {
        assert_eq!(client.get(&format!("/v1/deliveries/{path}")).status, status, "{path}");
    }
    assert_eq!(client.get("/v1/deliveries?limit=0").status, 400);
}
