//! A conversation about an issue is dropped, and old things are removed.

use std::fs;
use std::path::PathBuf;

use segue_testkit::World;
use segue_testkit::repositories::{git, make_repository};
use segue_testkit::world::CommandOutcome;
use serde_json::{Value, json};

use super::tasks::state_after_wait;
use super::worktrees::check_repositories;
use super::{NAME, Scenario, prompt, wait_at_rest, with_project};

/// The issue that the agent works on.
const ISSUE: &str = "17";

/// A file that git does not track. It must survive every removal.
const NOTE: &str = "note.txt";

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "reset",
        prepare: |world| {
            with_issue(world);
            with_waiting_task(world);
        },
        act: |world| {
            let outcome = reset(world);
            configure(world, "");
            outcome
        },
        check: |world, outcome| {
            if outcome.status == 0 {
                let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
                let both = json!({ "worktree": true, "session": true });
                assert_eq!(report["dropped"], both, "{outcome:#?}");
                no_task_is_open(world);
                everything_is_salvaged(world);
            }
        },
        repeat: |world| {
            assert_eq!(reset(world).status, 0);
            let report = world.json(reset_words(&url(world)));
            let none = json!({ "worktree": false, "session": false });
            assert_eq!(report["dropped"], none, "{report}");
            no_task_is_open(world);
            everything_is_salvaged(world);
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "sweep",
        prepare: |world| {
            with_issue(world);
            let sessions = world.sessions();
            world.ok(["rm", sessions[0]["address"].as_str().unwrap(), "--yes"]);
            with_unused_clone(world);
            configure(
                world,
                "[sweep]\norphans = \"0s\"\nclones = \"0s\"\n[disk]\nbudget = \"1 B\"\n",
            );
        },
        act: |world| world.segue(["sweep", "--json"]),
        check: |world, outcome| {
            if outcome.status == 0 {
                everything_is_salvaged(world);
            }
        },
        repeat: |world| {
            let outcome = world.segue(["sweep", "--json"]);
            assert_eq!(outcome.status, 0, "{outcome:#?}");
            everything_is_salvaged(world);
        },
        ..Scenario::PLAIN
    },
];

fn url(world: &World) -> String {
    format!("file://{}", world.project().display())
}

/// Lets the agent work on an issue, in a clone and a worktree with a file of its own.
fn with_issue(world: &World) {
    make_repository(&world.project());
    with_project(world);
    let url = url(world);
    let message = prompt(NAME);
    let add = ["task", "add", "--agent", NAME, "--repo", &url, "--issue", ISSUE, "--wait"];
    let outcome = CommandOutcome::of(world.command(add).arg(message));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    wait_at_rest(world);
    let folder: PathBuf = world.sessions()[0]["cwd"].as_str().unwrap().into();
    fs::write(folder.join(NOTE), "keep me").unwrap();
}

/// Adds a task about the issue that waits, because a file of variables is missing.
fn with_waiting_task(world: &World) {
    configure(world, "[environment]\nfiles = [\"/nonexistent/variables\"]\n");
    let url = url(world);
    let add = ["task", "add", "--agent", NAME, "--repo", &url, "--issue", ISSUE, "--key", "later"];
    let outcome = CommandOutcome::of(world.command(add).arg("not said"));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    assert_eq!(state_after_wait(world, "later"), "waiting");
}

/// Makes a clone of another repository that nothing needs.
fn with_unused_clone(world: &World) {
    let origin = world.root().join("other");
    make_repository(&origin);
    let url = format!("file://{}", origin.display());
    world.ok(["run", "-d", "--name", "beta", "--worktree", "fix", "--repo", &url, "hello"]);
    wait_at_rest(world);
    world.ok(["stop", "beta"]);
    world.ok(["worktree", "rm", "beta", "--yes"]);
    world.ok(["rm", "beta", "--yes"]);
}

fn configure(world: &World, text: &str) {
    fs::write(world.segue_home().join("config.toml"), text).unwrap();
}

fn no_task_is_open(world: &World) {
    let open = world.json(["task", "ls", "--json"]);
    assert_eq!(open["tasks"], json!([]), "{open:#}");
}

fn reset_words(url: &str) -> [&str; 8] {
    ["reset", "--agent", NAME, "--repo", url, "--issue", ISSUE, "--json"]
}

fn reset(world: &World) -> CommandOutcome {
    world.segue(reset_words(&url(world)))
}

/// Checks that the worktree is gone and that a salvage has its file.
fn everything_is_salvaged(world: &World) {
    let clones = fs::read_dir(world.segue_home().join("data/clones")).unwrap();
    let clones: Vec<PathBuf> = clones.map(|entry| entry.unwrap().path()).collect();
    let [clone] = clones.as_slice() else { panic!("{clones:?}") };
    let list = git(clone, &["worktree", "list", "--porcelain"]);
    assert_eq!(list.matches("worktree ").count(), 1, "{list}");
    let salvages = git(clone, &["for-each-ref", "--format=%(refname)", "refs/segue/salvage"]);
    let has_note = salvages.lines().any(|salvage| {
        let files = git(clone, &["ls-tree", "-r", "--name-only", salvage]);
        files.contains(NOTE)
    });
    assert!(has_note, "{salvages}");
    check_repositories(world);
}
