//! Tasks are added, run in order, listed, cancelled and retried.

use std::fs;

use segue_testkit::scene::{self, text};
use segue_testkit::{World, conversation};
use serde_json::{Value, json};

use super::{add, received, session, show, wait, wait_state, world_with_coder};

#[test]
fn task_runs_headless_in_a_session_of_its_own_and_has_the_answer_as_its_result() {
    let world = world_with_coder();
    let id = add(&world, "remember the word amber");
    let done = wait(&world, &id);
    assert_eq!((&done["state"], &done["attempts"]), (&json!("done"), &json!(1)), "{done:#}");
    assert_eq!(done["result"]["answer"], "I will remember amber.");
    let own = session(&world, &done);
    assert!(text(&own, "name").starts_with("coder-task-"), "{own:#}");
    assert_eq!((&own["headless"], &own["agent"]), (&json!(true), &json!("coder")));
    assert_eq!(done["address"], own["address"]);
    assert_eq!(received(&world, &done), ["remember the word amber"]);
    let fields: Vec<&String> = done.as_object().unwrap().keys().collect();
    let expected = [
        "address",
        "agent",
        "attempts",
        "branch",
        "created_at",
        "ended_at",
        "id",
        "issue",
        "key",
        "parent",
        "plan",
        "priority",
        "prompt",
        "reason",
        "repository",
        "result",
        "session",
        "started_at",
        "state",
        "worktree",
    ];
    let mut fields: Vec<&str> = fields.into_iter().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, expected);
    // The agent's own name stays free for `segue up`.
    world.ok(["up"]);
    assert_eq!(world.session("coder")["headless"], false);
}

#[test]
fn add_with_wait_prints_the_answer_and_a_known_key_adds_nothing() {
    let world = world_with_coder();
    let nightly = ["task", "add", "--agent", "coder", "--key", "nightly", "--wait", "hello"];
    let first = world.segue(nightly);
    assert_eq!(first.status, 0, "{first:#?}");
    let again = world.segue(nightly);
    assert_eq!((again.status, &again.stdout), (0, &first.stdout));
    assert_eq!(world.json(["task", "ls", "--all", "--json"])["tasks"].as_array().unwrap().len(), 1);
    assert_eq!(world.sessions().len(), 1);
}

#[test]
fn tasks_of_an_agent_run_one_after_another_and_a_cancelled_task_makes_room() {
    let world = world_with_coder();
    let first = add(&world, "/hang");
    wait_state(&world, &first, "running");
    let second = add(&world, "remember the word amber");
    let queued = show(&world, &second);
    assert_eq!((&queued["state"], &queued["session"]), (&json!("queued"), &Value::Null));
    assert_eq!(queued["reason"], "the agent works on another task");
    let third = add(&world, "never");
    world.ok(["task", "cancel", &third]);
    world.ok(["task", "cancel", &first]);
    assert_eq!(wait(&world, &second)["state"], "done");
    for cancelled in [&first, &third] {
        assert_eq!(show(&world, cancelled)["state"], "cancelled");
        assert_eq!(world.segue(["task", "wait", cancelled]).status, 4);
    }
    assert_eq!(show(&world, &third)["attempts"], 0, "a cancelled task never runs");
    let stopped = session(&world, &show(&world, &first));
    assert_eq!((&stopped["status"], &stopped["pid"]), (&json!("ended"), &Value::Null));
}

#[test]
fn tasks_with_higher_priority_start_first() {
    let world = world_with_coder();
    let first = add(&world, "/hang");
    wait_state(&world, &first, "running");
    let low = add(&world, "low");
    let high = world.ok(["task", "add", "--agent", "coder", "--priority", "3", "high"]);
    world.ok(["task", "cancel", &first]);
    let (low, high) = (wait(&world, &low), wait(&world, high.trim()));
    assert!(text(&high, "ended_at") <= text(&low, "started_at"), "{high:#} {low:#}");
}

#[test]
fn cancelled_task_ends_once_and_can_be_retried_at_once() {
    let world = world_with_coder();
    let id = add(&world, "/hang");
    wait_state(&world, &id, "running");
    world.ok(["task", "cancel", &id]);
    // The agent hangs again, because a new conversation begins with the same prompt.
    world.ok(["task", "retry", &id, "--fresh"]);
    let running = wait_state(&world, &id, "running");
    assert_eq!(running["attempts"], 2, "{running:#}");
    world.ok(["task", "cancel", &id]);
    assert_eq!(wait(&world, &id)["state"], "cancelled");
    let log = world.ok(["log"]);
    assert_eq!(log.matches(&format!("task {id}: cancelled")).count(), 2, "{log}");
}

#[test]
fn stopping_the_session_of_a_task_cancels_the_task() {
    let world = world_with_coder();
    let id = add(&world, "/hang");
    let running = wait_state(&world, &id, "running");
    world.ok(["stop", text(&running, "address")]);
    assert_eq!(wait(&world, &id)["state"], "cancelled");
}

#[test]
fn tasks_about_one_issue_and_tasks_of_a_session_continue_one_conversation() {
    let world = world_with_coder();
    let about = |prompt: &str| {
        let add = ["task", "add", "--agent", "coder", "--issue", "17", "--wait", "--json", prompt];
        world.json(add)["task"].clone()
    };
    let first = about("remember the word amber");
    let second = about("what is the word?");
    assert_eq!(second["session"], first["session"], "{second:#}");
    assert_eq!(second["result"]["answer"], "The word is amber.");
    let name = text(&first, "address");
    let named = ["task", "add", "--agent", "coder", "--session", name, "--wait", "and the word?"];
    let third = world.segue(named);
    assert_eq!(third.status, 0, "{third:#?}");
    assert_eq!(received(&world, &first).len(), 3);
}

#[test]
fn removed_conversation_about_an_issue_leaves_issues_with_similar_numbers_alone() {
    let world = world_with_coder();
    let about = |issue: &str, prompt: &str| {
        let words = ["task", "add", "--agent", "coder", "--issue", issue, prompt];
        wait(&world, world.ok(words).trim())
    };
    let four = about("4", "remember the word amber");
    let others = ["41", "14", "44"].map(|issue| about(issue, "remember the word cedar"));
    assert!(others.iter().all(|other| other["session"] != four["session"]), "{others:#?}");
    world.ok(["rm", "--yes", text(&four, "address")]);
    for (issue, before) in ["41", "14", "44"].iter().zip(&others) {
        let after = about(issue, "which word?");
        assert_eq!(after["session"], before["session"], "{issue}");
        assert_eq!(after["result"]["answer"], "The word is cedar.", "{after:#}");
    }
    let again = about("4", "hello");
    assert_eq!(again["state"], "done", "{again:#}");
    assert_ne!(again["session"], four["session"]);
}

#[test]
fn fifty_concurrent_additions_are_fifty_tasks_also_after_everything_was_killed() {
    let world = world_with_coder();
    let first = add(&world, "/hang");
    wait_state(&world, &first, "running");
    let keys: Vec<String> = (0..50).map(|number| format!("key-{number:02}")).collect();
    let adding: Vec<_> = keys
        .iter()
        .map(|key| world.start(["task", "add", "--agent", "coder", "--key", key, "hello"]))
        .collect();
    for command in adding {
        let outcome = scene::finish(command);
        assert_eq!(outcome.status, 0, "{outcome:#?}");
    }
    world.kill_everything();
    let listed = world.json(["task", "ls", "--all", "--json"])["tasks"].as_array().unwrap().clone();
    let mut found: Vec<&str> = listed.iter().filter_map(|task| task["key"].as_str()).collect();
    found.sort_unstable();
    assert_eq!(found, keys);
}

#[test]
fn templates_of_the_project_make_the_prompts_and_a_broken_one_is_named_with_its_line() {
    let world = world_with_coder();
    std::fs::create_dir(world.project().join("prompts")).unwrap();
    world.write("prompts/task.md", "remember the word {{ prompt }}");
    let untrusted = world.segue(["task", "add", "--agent", "coder", "amber"]);
    assert_eq!(untrusted.status, 5, "{untrusted:#?}");
    world.ok(["trust", "--yes"]);
    let done = wait(&world, &add(&world, "amber"));
    assert_eq!(done["result"]["answer"], "I will remember amber.", "{done:#}");
    world.write("prompts/task.md", "{{ prompt }}\n{{ promt }}");
    world.ok(["trust", "--yes"]);
    let broken = world.segue(["task", "add", "--agent", "coder", "amber"]);
    assert_eq!(broken.status, 5, "{broken:#?}");
    assert!(broken.stderr.contains("prompts/task.md` line 2"), "{}", broken.stderr);
}

#[test]
fn interactive_task_runs_in_a_terminal_and_a_question_makes_it_wait() {
    let world = world_with_coder();
    let added = world.ok(["task", "add", "--agent", "coder", "--interactive", "/ask"]);
    let id = added.trim();
    let waiting = wait(&world, id);
    assert_eq!(waiting["state"], "waiting", "{waiting:#}");
    assert!(waiting["reason"].is_string(), "{waiting:#}");
    let own = session(&world, &waiting);
    assert_eq!((&own["headless"], &own["status"]), (&json!(false), &json!("waiting")));
    world.ok(["answer", text(&waiting, "address"), "yes"]);
    let done = wait_state(&world, id, "done");
    assert_eq!(done["attempts"], 1, "{done:#}");
}

#[test]
fn list_and_record_show_prompts_without_control_sequences() {
    let world = world_with_coder();
    let id = add(&world, "say \u{1b}[8mhidden\u{1b}[0m\u{7}");
    wait(&world, &id);
    for command in [["task", "ls", "--all"].as_slice(), &["task", "show", &id]] {
        let output = world.command(command).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(shown.contains("hidden") && !shown.contains('\u{1b}'), "{shown:?}");
        assert!(!shown.contains('\u{7}'), "{shown:?}");
    }
}

#[test]
fn bad_flags_and_unknown_tasks_are_errors_with_their_own_exit_statuses() {
    let world = world_with_coder();
    let table: [(&[&str], i32, &str); 5] = [
        (&["add", "--agent", "coder", "--repo", "no url", "x"], 2, "URL of a repository"),
        (&["add", "--agent", "coder", "--branch", "a b", "x"], 2, "a b"),
        (&["add", "--agent", "nobody", "x"], 3, "nobody"),
        (&["add", "--agent", "coder"], 2, "needs a prompt"),
        (&["show", "ffffffff"], 3, "no task"),
    ];
    for (words, status, message) in table {
        let output = world.command(["task"].iter().chain(words)).output().unwrap();
        let shown = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{words:?}: {shown}");
        assert!(shown.contains(message), "{words:?}: {shown}");
    }
    assert_eq!(world.json(["task", "ls", "--all", "--json"]), json!({"tasks": []}));
}

#[test]
fn log_of_a_task_has_the_events_of_its_session_and_ends_with_the_task() {
    let world = world_with_coder();
    let id = add(&world, "/hang");
    wait_state(&world, &id, "running");
    let follower = world.start(["task", "log", &id, "--follow", "--json"]);
    world.ok(["task", "cancel", &id]);
    let log = scene::finish(follower);
    assert_eq!(log.status, 0, "{log:#?}");
    let last: Value = serde_json::from_str(log.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["kind"], &last["data"]["state"]),
        (&json!("task_changed"), &json!("cancelled"))
    );
}

/// Returns the variable `SEGUE_TASK` of the agent that works on a task.
fn task_variable(world: &World, task: &str) -> String {
    let pid = scene::pid(&session(world, &show(world, task)), "pid");
    let environment = fs::read_to_string(format!("/proc/{pid}/environ")).unwrap();
    let variable = environment.split('\0').find_map(|pair| pair.strip_prefix("SEGUE_TASK="));
    variable.unwrap().to_owned()
}

#[test]
fn agent_has_the_id_of_its_task_as_a_variable_also_in_a_later_task_of_the_same_session() {
    let world = world_with_coder();
    let first = add(&world, "/hang");
    let working = session(&world, &wait_state(&world, &first, "running"));
    conversation::wait_messages(&world, &working, 1);
    assert_eq!(task_variable(&world, &first), first);
    world.ok(["task", "cancel", &first]);
    wait(&world, &first);
    let words =
        ["task", "add", "--agent", "coder", "--session", text(&working, "address"), "/hang"];
    let second = world.ok(words).trim().to_owned();
    conversation::wait_messages(&world, &working, 2);
    assert_eq!(task_variable(&world, &second), second);
    world.ok(["task", "cancel", &second]);
    world.ok(["run", "-d", "--agent", "coder", "--name", "fox", "hello"]);
    let pid = scene::pid(&world.session("fox"), "pid");
    let environment = fs::read_to_string(format!("/proc/{pid}/environ")).unwrap();
    assert!(environment.contains("\0SEGUE_TASK=\0"), "no task: {environment}");
}
