//! Tasks that work in worktrees of their agents, and what they have changed there.

use std::fs;
use std::path::{Path, PathBuf};

use segue_testkit::repositories::{git, make_repository};
use segue_testkit::scene::{self, text};
use segue_testkit::{CommandOutcome, World, conversation, launches};
use serde_json::{Value, json};

use super::{received, session, show, wait, wait_state};
use crate::worktrees::world_with_repository;

/// A verify command that does what an agent would do: it changes a file and commits it.
const COMMIT: &str = "echo two >> code.txt && echo new > new.txt && git add -A \
    && git -c user.name=Ann -c user.email=ann@example.org commit -q -m 'add two'";

/// Creates a world with the agents `coder` and `tester`, whose project is a repository.
fn world_with_agents(lines: &str) -> World {
    let world = world_with_repository();
    scene::write_agents_with(&world, "shop", &["coder", "tester"], lines);
    world
}

/// Adds a task with these flags, and returns its id.
fn add(world: &World, words: &[&str]) -> String {
    let words = ["task", "add", "--agent", "coder"].iter().chain(words);
    let outcome = CommandOutcome::of(&mut world.command(words));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    outcome.stdout.trim().to_owned()
}

/// Makes a repository beside the project, and returns its folder and its URL.
fn origin(world: &World, name: &str) -> (PathBuf, String) {
    let folder = world.root().join(name);
    make_repository(&folder);
    let url = format!("file://{}", folder.display());
    (folder, url)
}

fn folder(task: &Value) -> &Path {
    Path::new(text(task, "worktree"))
}

#[test]
fn task_with_a_branch_works_in_a_worktree_and_its_result_has_commits_and_changes() {
    let world = world_with_agents("");
    let id = add(&world, &["--branch", "fix", "--verify", COMMIT, "remember the word amber"]);
    let done = wait(&world, &id);
    assert_eq!((&done["state"], &done["branch"]), (&json!("done"), &json!("fix")), "{done:#}");
    assert_eq!(text(&session(&world, &done), "cwd"), text(&done, "worktree"));
    assert_eq!(git(folder(&done), &["branch", "--show-current"]), "fix");
    assert_eq!(git(&world.project(), &["log", "--oneline", "main"]).lines().count(), 1);
    let result = &done["result"];
    let commit = git(folder(&done), &["rev-parse", "HEAD"]);
    assert_eq!(result["commits"], json!([{ "id": commit, "subject": "add two" }]), "{done:#}");
    assert_eq!(result["diff"], json!({ "files": 2, "insertions": 2, "deletions": 0 }));
    assert_eq!(result["note"], Value::Null);
    let shown = world.ok(["task", "show", &id]);
    assert!(shown.contains("add two") && shown.contains("2 files, +2 -0 lines"), "{shown}");
}

#[test]
fn later_tasks_of_an_agent_work_in_the_same_worktree_with_sessions_of_their_own() {
    let world = world_with_agents("worktree = \"feature/{{agent}}\"\n");
    let first = wait(&world, &add(&world, &["--verify", COMMIT, "one"]));
    let second = wait(&world, &add(&world, &["two"]));
    for task in [&first, &second] {
        assert_eq!(task["state"], "done", "{task:#}");
        assert_eq!(task["branch"], "feature/coder");
    }
    assert_eq!(first["worktree"], second["worktree"]);
    assert_ne!(first["session"], second["session"]);
    assert_eq!(second["result"]["commits"], json!([]), "{second:#}");
    assert_eq!(world.json(["worktree", "ls", "--json"])["worktrees"].as_array().unwrap().len(), 1);
    // The first session takes its worktree back.
    let third = add(&world, &["--session", text(&session(&world, &first), "name"), "three"]);
    let third = wait(&world, &third);
    assert_eq!((&third["state"], &third["session"]), (&json!("done"), &first["session"]));
    assert_eq!(third["worktree"], first["worktree"], "{third:#}");
}

#[test]
fn tasks_about_one_issue_of_a_url_share_conversation_clone_and_worktree() {
    let world = world_with_agents("");
    let (origin, url) = origin(&world, "app");
    let flags = ["--repo", &url, "--issue", "17"];
    let add = |prompt| add(&world, &[&flags[..], &[prompt]].concat());
    let first = wait(&world, &add("remember the word amber"));
    assert_eq!((&first["state"], &first["branch"]), (&json!("done"), &json!("coder/issue-17")));
    assert_eq!(fs::read_to_string(folder(&first).join("code.txt")).unwrap(), "one\n");
    fs::write(origin.join("later.txt"), "x").unwrap();
    git(&origin, &["add", "later.txt"]);
    git(&origin, &["commit", "-q", "-m", "later"]);
    let second = wait(&world, &add("which word?"));
    assert_eq!(second["state"], "done", "{second:#}");
    for key in ["session", "worktree", "branch", "repository"] {
        assert_eq!(first[key], second[key], "{key}");
    }
    let prompts = received(&world, &second);
    assert_eq!(prompts[0], "remember the word amber");
    assert!(prompts[1].contains("which word?") && prompts[1].contains("coder/issue-17"));
    assert_eq!(second["result"]["answer"], "The word is amber.", "{second:#}");
    assert_eq!(fs::read_dir(world.segue_home().join("data/clones")).unwrap().count(), 1);
    let other = world.segue([
        "task", "add", "--agent", "coder", "--repo", &url, "--issue", "17", "--branch", "other",
        "no",
    ]);
    assert_eq!(other.status, 4, "{other:#?}");
    assert!(
        other.stderr.contains("works on branch `coder/issue-17`, not on `other`"),
        "{other:#?}"
    );
}

#[test]
fn task_whose_conversation_was_lost_goes_on_in_the_same_worktree() {
    let world = world_with_agents("");
    let (_, url) = origin(&world, "app");
    let flags = ["--repo", &url, "--issue", "17"];
    let add = |words: &[&str]| add(&world, &[&flags[..], words].concat());
    let first = wait(&world, &add(&["--verify", COMMIT, "remember the word amber"]));
    let lost = session(&world, &first);
    world.kill_everything();
    fs::remove_dir_all(world.home().join(".segue-demo")).unwrap();
    launches::remove_copies(&world, &lost);
    let second = wait(&world, &add(&["remember the word cedar"]));
    assert_eq!(second["state"], "done", "{second:#}");
    assert_ne!(second["session"], first["session"]);
    assert_eq!(second["worktree"], first["worktree"]);
    assert!(folder(&second).join("new.txt").exists(), "the work of the first task is kept");
    let note = text(&second["result"], "note");
    assert!(note.contains(text(&lost, "vendor_session_id")), "{note}");
}

#[test]
fn agents_never_share_the_conversation_about_an_issue_or_a_worktree() {
    let world = world_with_agents("");
    let (_, url) = origin(&world, "app");
    let of = |agent| {
        let words = ["task", "add", "--agent", agent, "--repo", &url, "--issue", "4", "hello"];
        wait(&world, world.ok(words).trim())
    };
    let (coder, tester) = (of("coder"), of("tester"));
    assert_ne!(coder["session"], tester["session"]);
    assert_ne!(coder["worktree"], tester["worktree"]);
    assert_eq!(
        (&coder["branch"], &tester["branch"]),
        (&json!("coder/issue-4"), &json!("tester/issue-4"))
    );
}

#[test]
fn task_fails_at_once_with_the_words_of_git_if_its_worktree_cannot_be_made() {
    let world = world_with_agents("");
    let url = format!("file://{}/nowhere", world.root().display());
    let failed = wait(&world, &add(&world, &["--repo", &url, "hello"]));
    assert_eq!((&failed["state"], &failed["attempts"]), (&json!("failed"), &json!(0)));
    let reason = text(&failed, "reason");
    assert!(
        reason.contains("nowhere") && reason.contains("does not appear to be a git repository"),
        "{reason}"
    );
    assert_eq!(failed["session"], Value::Null);
    assert_eq!(world.sessions().len(), 0);
}

#[test]
fn task_for_a_worktree_in_which_a_person_works_is_refused() {
    let world = world_with_agents("worktree = \"feature/{{agent}}\"\n");
    world.ok(["up", "coder"]);
    let refused = world.segue(["task", "add", "--agent", "coder", "hello"]);
    assert_eq!(refused.status, 4, "{refused:#?}");
    let message = "`shop/coder` works in the worktree of branch `feature/coder`";
    assert!(refused.stderr.contains(message), "{refused:#?}");
    assert!(refused.stderr.contains("--session coder"), "{refused:#?}");
    let elsewhere = wait(&world, &add(&world, &["--branch", "other", "hello"]));
    assert_eq!(elsewhere["state"], "done", "{elsewhere:#}");
    assert_eq!(world.json(["task", "ls", "--all", "--json"])["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn task_goes_on_in_its_worktree_after_everything_was_killed() {
    let world = world_with_agents("");
    let (_, url) = origin(&world, "app");
    let id = add(&world, &["--repo", &url, "--branch", "fix", "/hang"]);
    let before = wait_state(&world, &id, "running");
    conversation::wait_messages(&world, &session(&world, &before), 1);
    world.kill_everything();
    fs::remove_dir_all(folder(&before)).unwrap();
    let done = wait(&world, &id);
    assert_eq!(done["state"], "done", "{done:#}");
    for key in ["session", "worktree", "branch"] {
        assert_eq!(before[key], done[key], "{key}");
    }
    assert_eq!(git(folder(&done), &["branch", "--show-current"]), "fix");
    assert_eq!(received(&world, &done).len(), 2, "the prompt and one nudge");
}

#[test]
fn clone_without_its_head_is_made_again_and_the_log_reports_it() {
    let world = world_with_agents("");
    let (_, url) = origin(&world, "app");
    let first = wait(&world, &add(&world, &["--repo", &url, "--branch", "fix", "hello"]));
    assert_eq!(first["state"], "done", "{first:#}");
    let clones = world.segue_home().join("data/clones");
    let clone = fs::read_dir(&clones).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(clone.join("HEAD")).unwrap();
    let second = wait(&world, &add(&world, &["--repo", &url, "--branch", "other", "hello"]));
    assert_eq!(second["state"], "done", "{second:#}");
    let name = text(&session(&world, &second), "name").to_owned();
    let made = scene::event_texts(&world, &name, "worktree_made").join("\n");
    assert!(made.contains("the clone was damaged (the file `HEAD` is missing)"), "{made}");
    for task in [&first, &second] {
        assert_eq!(git(folder(task), &["status", "--porcelain"]), "", "{task:#}");
    }
    git(&clone, &["fsck"]);
    assert_eq!(fs::read_dir(&clones).unwrap().count(), 2, "the damaged clone is kept");
}

#[test]
fn worktree_with_uncommitted_changes_is_used_as_it_is_and_the_log_reports_them() {
    let world = world_with_agents("");
    let first = wait(&world, &add(&world, &["--branch", "fix", "hello"]));
    fs::write(folder(&first).join("code.txt"), "changed").unwrap();
    fs::write(folder(&first).join("new.txt"), "new").unwrap();
    let second = wait(&world, &add(&world, &["--branch", "fix", "hello"]));
    assert_eq!((&second["state"], &second["worktree"]), (&json!("done"), &first["worktree"]));
    let name = text(&session(&world, &second), "name").to_owned();
    let made = scene::event_texts(&world, &name, "worktree_made").join("\n");
    assert!(made.contains("uncommitted changes: 1 modified, 1 untracked"), "{made}");
    assert_eq!(fs::read_to_string(folder(&first).join("code.txt")).unwrap(), "changed");
    assert_eq!(fs::read_to_string(folder(&first).join("new.txt")).unwrap(), "new");
}

#[test]
fn another_agent_retries_a_task_in_the_same_worktree() {
    let world = world_with_agents("");
    let id = add(&world, &["--branch", "fix", "--verify", COMMIT, "/fail"]);
    let failed = wait(&world, &id);
    assert_eq!(failed["state"], "failed", "{failed:#}");
    world.ok(["task", "retry", &id, "--agent", "tester"]);
    let done = wait(&world, &id);
    assert_eq!((&done["state"], &done["agent"]), (&json!("failed"), &json!("tester")), "{done:#}");
    assert_eq!(done["worktree"], failed["worktree"]);
    assert_ne!(show(&world, &id)["session"], failed["session"]);
}
