//! Branches from pull requests of forks: the code in them is not the project's.

use std::fs;
use std::path::PathBuf;

use segue_testkit::repositories::{git, make_origin};
use segue_testkit::scene::{event_texts, text, write_project};
use segue_testkit::{CommandOutcome, World, conversation};

use crate::world;

/// The ref of the remote that has the commit of the fork.
const PULL: &str = "refs/pull/17/head";

/// Creates a world whose project is a clone of a repository with a pull request of a fork. Its
/// trusted project file has the agents `coder` and `tester`, whose programs ask whether to trust their
/// folder, and a setup command. Returns the file that the setup command writes.
fn world_with_pull_request() -> (World, PathBuf) {
    let world = world();
    make_origin(world.root());
    let (origin, draft) = (world.root().join("app.git"), world.root().join("draft"));
    fs::write(draft.join("theirs.txt"), "x").unwrap();
    git(&draft, &["add", "theirs.txt"]);
    git(&draft, &["commit", "-q", "-m", "theirs"]);
    git(&draft, &["push", "-q", origin.to_str().unwrap(), &format!("HEAD:{PULL}")]);
    git(world.root(), &["clone", "-q", "app.git", "project"]);
    let runs = world.root().join("runs");
    let setup = format!("[worktrees]\nsetup = [\"echo once >> {}\"]\n", runs.display());
    let agent = |name| {
        format!(
            "[[agents]]\nname = \"{name}\"\nvendor = \"demo\"\nargs = [\"--ask-trust-first\"]\n"
        )
    };
    let fleet = "[fleet]\nname = \"shop\"\n";
    write_project(&world, &format!("{fleet}{}{}{setup}", agent("coder"), agent("tester")));
    (world, runs)
}

/// Starts an agent on the branch `theirs`, with these further flags.
fn run(world: &World, agent: &str, flags: &[&str]) -> CommandOutcome {
    let run = ["run", "-d", "--agent", agent, "--name", agent, "--worktree", "theirs", "hello"];
    CommandOutcome::of(world.command(run).args(flags))
}

fn is_asked_for_trust(world: &World, name: &str) -> bool {
    world.json(["wait", name, "--for", "waiting", "--json"])["waiting_for"] == "trust"
}

#[test]
fn branch_of_a_fork_is_neither_set_up_nor_trusted() {
    let (world, runs) = world_with_pull_request();
    let started = run(&world, "coder", &["--from-fork", PULL]);
    assert_eq!(started.status, 0, "{started:#?}");
    let session = world.session("coder");
    let folder = PathBuf::from(text(&session, "cwd"));
    assert!(folder.join("theirs.txt").is_file());
    assert!(!runs.exists(), "the setup command ran");
    assert!(is_asked_for_trust(&world, "coder"));
    let made = event_texts(&world, "coder", "worktree_made").join("\n");
    assert!(made.contains(&format!("new branch from the pull request {PULL}")), "{made}");
    assert!(made.contains("--setup-fork"), "{made}");
    // The branch keeps its origin for another agent, after the first worktree is gone.
    world.ok(["stop", "coder"]);
    world.ok(["worktree", "rm", "coder", "--yes"]);
    let again = run(&world, "tester", &[]);
    assert_eq!(again.status, 0, "{again:#?}");
    assert!(is_asked_for_trust(&world, "tester"));
    assert!(!runs.exists(), "the setup command ran");
}

#[test]
fn branch_of_a_fork_is_set_up_if_the_user_allows_it_and_still_not_trusted() {
    let (world, runs) = world_with_pull_request();
    let started = run(&world, "coder", &["--from-fork", PULL, "--setup-fork"]);
    assert_eq!(started.status, 0, "{started:#?}");
    assert_eq!(fs::read_to_string(&runs).unwrap(), "once\n");
    assert!(is_asked_for_trust(&world, "coder"));
}

#[test]
fn own_branch_of_the_same_project_is_set_up_and_trusted() {
    let (world, runs) = world_with_pull_request();
    let started = run(&world, "coder", &[]);
    assert_eq!(started.status, 0, "{started:#?}");
    conversation::wait_turns(&world, &world.session("coder"), 1);
    assert_eq!(fs::read_to_string(&runs).unwrap(), "once\n");
}

#[test]
fn pull_request_that_the_remote_does_not_have_is_an_error_with_the_words_of_git() {
    let (world, _) = world_with_pull_request();
    let missing = run(&world, "coder", &["--from-fork", "refs/pull/18/head"]);
    assert_eq!(missing.status, 7, "{missing:#?}");
    assert!(missing.stderr.contains("refs/pull/18/head"), "{missing:#?}");
    for flags in [&["--from-fork", "17"][..], &["--from-fork", PULL, "--base", "main"]] {
        let refused = run(&world, "coder", flags);
        assert_eq!(refused.status, 2, "{refused:#?}");
    }
    assert_eq!(world.sessions().len(), 0);
}

/// Adds a task on the branch `theirs` with these further flags, and waits for its end.
fn task(world: &World, flags: &[&str]) -> serde_json::Value {
    let add =
        ["task", "add", "--agent", "coder", "--branch", "theirs", "--wait", "--json", "hello"];
    let outcome = CommandOutcome::of(world.command(add).args(flags));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    serde_json::from_str::<serde_json::Value>(&outcome.stdout).unwrap()["task"].clone()
}

#[test]
fn task_on_the_pull_request_of_a_fork_is_not_set_up_unless_the_user_allows_it() {
    for (flags, runs_setup) in [(&[][..], false), (&["--setup-fork"][..], true)] {
        let (world, runs) = world_with_pull_request();
        let done = task(&world, &[&["--from-fork", PULL], flags].concat());
        assert_eq!((text(&done, "state"), text(&done, "branch")), ("done", "theirs"), "{done:#}");
        assert!(PathBuf::from(text(&done, "worktree")).join("theirs.txt").is_file());
        assert_eq!(runs.exists(), runs_setup, "{flags:?}");
    }
}

#[test]
fn task_from_a_fork_needs_a_branch_and_a_ref_that_the_remote_has() {
    let (world, _) = world_with_pull_request();
    let add = |flags: &[&str]| {
        CommandOutcome::of(world.command(["task", "add", "--agent", "coder", "hello"]).args(flags))
    };
    for flags in [&["--from-fork", PULL][..], &["--branch", "theirs", "--from-fork", "17"]] {
        let refused = add(flags);
        assert_eq!(refused.status, 2, "{refused:#?}");
    }
    let added = add(&["--branch", "theirs", "--from-fork", "refs/pull/18/head"]);
    let ended = world.segue(["task", "wait", added.stdout.trim(), "--json"]);
    let ended: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(text(&ended["task"], "state"), "failed", "{ended:#}");
    assert!(text(&ended["task"], "reason").contains("refs/pull/18/head"), "{ended:#}");
}
