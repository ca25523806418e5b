//! Tasks survive the death of the daemon and of all processes.

use std::fs;

use segue_testkit::scene::{self, kill_daemon, pids_running, text};
use segue_testkit::{World, conversation, launches, processes};
use serde_json::json;

use super::{add, received, session, show, wait, wait_state, world_with_coder};

/// Returns the process id of the agent that works on a task.
fn agent(world: &World, task: &str) -> u32 {
    scene::pid(&session(world, &show(world, task)), "pid")
}

/// Waits until the transcript of a task's session has the prompt.
fn wait_working(world: &World, task: &str) {
    let running = session(world, &wait_state(world, task, "running"));
    conversation::wait_messages(world, &running, 1);
}

#[test]
fn running_task_goes_on_after_the_daemon_was_killed() {
    let world = world_with_coder();
    let id = add(&world, "/hang");
    wait_working(&world, &id);
    let (before, pid) = (show(&world, &id), agent(&world, &id));
    kill_daemon(&world);
    let after = show(&world, &id);
    assert_eq!(after, before);
    assert_eq!(agent(&world, &id), pid, "the same process goes on");
    world.ok(["task", "cancel", &id]);
    assert_eq!(wait(&world, &id)["state"], "cancelled");
}

#[test]
fn result_of_a_turn_that_ended_without_a_daemon_is_not_lost() {
    let world = world_with_coder();
    let id = add(&world, "/slow 1");
    wait_working(&world, &id);
    let holders = pids_running(&world, "hold");
    kill_daemon(&world);
    holders.into_iter().for_each(processes::wait_gone);
    let done = wait(&world, &id);
    assert_eq!((&done["state"], &done["attempts"]), (&json!("done"), &json!(1)), "{done:#}");
    assert!(done["result"]["answer"].is_string(), "{done:#}");
    assert_eq!(received(&world, &done), ["/slow 1"]);
}

#[test]
fn task_is_nudged_once_in_the_same_conversation_after_everything_was_killed() {
    let world = world_with_coder();
    let id = add(&world, "/hang");
    wait_working(&world, &id);
    let before = show(&world, &id);
    world.kill_everything();
    let done = wait(&world, &id);
    assert_eq!((&done["state"], &done["attempts"]), (&json!("done"), &json!(1)), "{done:#}");
    assert_eq!(done["session"], before["session"]);
    let received = received(&world, &done);
    assert_eq!((received.len(), received[0].as_str()), (2, "/hang"), "{received:?}");
    assert!(received[1].contains("go on"), "{received:?}");
}

#[test]
fn conversation_of_a_task_can_be_continued_after_the_store_was_deleted() {
    let world = world_with_coder();
    let before = wait(&world, &add(&world, "remember the word amber"));
    assert_eq!(before["state"], "done", "{before:#}");
    world.kill_everything();
    fs::remove_dir_all(world.database().parent().unwrap()).unwrap();
    assert_eq!(world.segue(["task", "ls"]).status, 7);
    world.ok(["doctor", "--fix"]);
    scene::write_shop(&world, "");
    assert_eq!(world.segue(["task", "show", text(&before, "id")]).status, 3);
    let address = text(&before, "address");
    let words = ["task", "add", "--agent", "coder", "--session", address, "which word?"];
    let after = wait(&world, world.ok(words).trim());
    assert_eq!((&after["state"], &after["session"]), (&json!("done"), &before["session"]));
    assert_eq!(after["result"]["answer"], "The word is amber.", "{after:#}");
}

#[test]
fn task_is_kept_and_its_loss_is_reported_after_its_transcript_was_deleted() {
    let world = world_with_coder();
    let before = wait(&world, &add(&world, "remember the word amber"));
    let lost = lose_conversation(&world, &before);
    assert_eq!(show(&world, text(&before, "id")), before, "the task has its result");
    let address = text(&before, "address");
    let words = ["task", "add", "--agent", "coder", "--session", address, "which word?"];
    let id = world.ok(words).trim().to_owned();
    let failed = wait(&world, &id);
    assert_eq!(failed["state"], "failed", "{failed:#}");
    let reason = text(&failed, "reason");
    assert!(reason.contains(&lost) && reason.contains("is gone"), "{reason}");
    world.ok(["task", "retry", &id, "--fresh"]);
    let done = wait(&world, &id);
    assert_eq!(done["state"], "done", "{done:#}");
    assert_ne!(done["session"], before["session"]);
}

/// Deletes the transcript of a task's conversation and all copies of it, after all processes were
/// killed. Returns the id of the conversation.
fn lose_conversation(world: &World, task: &serde_json::Value) -> String {
    let lost = session(world, task);
    world.kill_everything();
    fs::remove_dir_all(world.home().join(".segue-demo")).unwrap();
    launches::remove_copies(world, &lost);
    text(&lost, "vendor_session_id").to_owned()
}

#[test]
fn task_about_an_issue_begins_a_new_conversation_and_reports_the_loss_of_the_last_one() {
    let world = world_with_coder();
    let about = |prompt: &str| {
        let words = ["task", "add", "--agent", "coder", "--issue", "17", prompt];
        wait(&world, world.ok(words).trim())
    };
    let before = about("remember the word amber");
    let lost = lose_conversation(&world, &before);
    let after = about("remember the word cedar");
    assert_eq!(after["state"], "done", "{after:#}");
    assert_ne!(after["session"], before["session"]);
    let prompts = received(&world, &after);
    assert_eq!(prompts.len(), 1, "{prompts:?}");
    assert!(prompts[0].contains("conversation about this work was lost"), "{prompts:?}");
    assert!(prompts[0].ends_with("remember the word cedar"), "the whole prompt: {prompts:?}");
    let note = text(&after["result"], "note");
    assert!(note.contains("a new conversation was begun") && note.contains(&lost), "{note}");
    let (task, before_address) = (text(&after, "id"), text(&before, "address"));
    for log in [world.ok(["task", "log", task]), world.ok(["log", before_address])] {
        assert!(log.contains("a new conversation was begun") && log.contains(&lost), "{log}");
    }
    let messages = world.ok(["messages", before_address]);
    assert!(!messages.contains("queued"), "nothing is left for the lost session: {messages}");
    let next = about("which word?");
    assert_eq!(next["session"], after["session"], "later tasks continue the new conversation");
    assert_eq!(next["result"]["note"], json!(null), "{next:#}");
}

#[test]
fn running_task_whose_conversation_was_lost_begins_a_new_one_and_reports_it() {
    let world = world_with_coder();
    let id = add(&world, "/hang");
    wait_working(&world, &id);
    let before = show(&world, &id);
    let lost = lose_conversation(&world, &before);
    let done = wait(&world, &id);
    assert_eq!(done["state"], "done", "{done:#}");
    assert_ne!(done["session"], before["session"]);
    let prompts = received(&world, &done);
    assert!(prompts.len() == 1 && prompts[0].ends_with("/hang"), "{prompts:?}");
    assert!(text(&done["result"], "note").contains(&lost), "{done:#}");
}

#[test]
fn queued_tasks_start_after_everything_was_killed() {
    let world = world_with_coder();
    let first = add(&world, "/hang");
    wait_working(&world, &first);
    let second = add(&world, "remember the word amber");
    world.kill_everything();
    let done = wait(&world, &second);
    assert_eq!((&done["state"], &done["attempts"]), (&json!("done"), &json!(1)), "{done:#}");
    assert_eq!(received(&world, &done), ["remember the word amber"]);
}
