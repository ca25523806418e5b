//! Actions on worktrees during which any process may be killed.

use std::fs;
use std::path::PathBuf;

use segue_testkit::World;
use segue_testkit::repositories::{git, make_repository};
use segue_testkit::scene::write_project;
use segue_testkit::world::CommandOutcome;

use super::{NAME, Scenario, prompt, run_was_true, wait_at_rest};

/// The branch of the worktree.
const BRANCH: &str = "fix";

/// The branch onto which the worktree is restored.
const NEW_BRANCH: &str = "fix-2";

/// The file that the setup command makes in a worktree.
const INSTALLED: &str = "installed";

/// A file that git does not track. It must survive every removal.
const NOTE: &str = "note.txt";

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "worktree-run",
        prepare: with_repository,
        act: run,
        settle: wait_at_rest,
        check: run_and_repository_are_right,
        repeat: |world| repeat_unless_there(world, run),
        ..Scenario::PLAIN
    },
    Scenario {
        name: "worktree-clone",
        prepare: with_repository,
        act: run_in_clone,
        settle: wait_at_rest,
        check: run_and_repository_are_right,
        repeat: |world| repeat_unless_there(world, run_in_clone),
        ..Scenario::PLAIN
    },
    Scenario {
        name: "worktree-setup",
        prepare: with_commands,
        act: run,
        settle: wait_at_rest,
        check: run_and_setup_are_right,
        repeat: |world| {
            repeat_unless_there(world, run);
            check_setup(world);
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "worktree-teardown",
        prepare: |world| {
            with_commands(world);
            with_stopped_session(world);
        },
        act: remove,
        repeat: |world| {
            assert_eq!(remove(world).status, 0);
            let outcome = world.segue(["resume", NAME, "--stopped", "--json"]);
            assert_eq!(outcome.status, 0, "{outcome:#?}");
            note_is_there_after_a_resume(world, &outcome);
            check_setup(world);
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "worktree-rm",
        prepare: |world| {
            with_repository(world);
            with_stopped_session(world);
        },
        act: remove,
        repeat: |world| assert_eq!(remove(world).status, 0),
        ..Scenario::PLAIN
    },
    Scenario {
        name: "worktree-back",
        prepare: |world| {
            with_repository(world);
            with_stopped_session(world);
            assert_eq!(remove(world).status, 0);
        },
        act: |world| world.segue(["resume", NAME, "--stopped", "--json"]),
        settle: wait_at_rest,
        check: note_is_there_after_a_resume,
        repeat: |world| {
            let outcome = world.segue(["resume", NAME, "--stopped", "--json"]);
            assert_eq!(outcome.status, 0, "{outcome:#?}");
            note_is_there_after_a_resume(world, &outcome);
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "worktree-restore",
        prepare: |world| {
            with_repository(world);
            with_stopped_session(world);
            assert_eq!(remove(world).status, 0);
        },
        act: restore_onto_new_branch,
        check: |world, outcome| {
            if outcome.status == 0 {
                assert_eq!(branches(world), (NEW_BRANCH.to_owned(), NEW_BRANCH.to_owned()));
                note_is_there_after_a_resume(world, outcome);
            }
        },
        repeat: |world| {
            let outcome = restore_onto_new_branch(world);
            // The first attempt may have restored the worktree, which then exists.
            assert!([0, 4].contains(&outcome.status), "{outcome:#?}");
            assert_eq!(branches(world), (NEW_BRANCH.to_owned(), NEW_BRANCH.to_owned()));
            note_is_there_after_a_resume(world, &world.segue(["ls"]));
        },
        ..Scenario::PLAIN
    },
];

fn restore_onto_new_branch(world: &World) -> CommandOutcome {
    world.segue(["worktree", "restore", NAME, "--branch", NEW_BRANCH])
}

/// Returns the branch of the session's worktree in the record, and the one that git has checked out.
fn branches(world: &World) -> (String, String) {
    let session = world.session(NAME);
    let checked_out = git(&folder(world), &["branch", "--show-current"]);
    (session["branch"].as_str().unwrap().to_owned(), checked_out)
}

fn run(world: &World) -> CommandOutcome {
    world.segue(["run", "-d", "--name", NAME, "--worktree", BRANCH, &prompt(NAME)])
}

fn run_in_clone(world: &World) -> CommandOutcome {
    let url = format!("file://{}", world.project().display());
    let message = prompt(NAME);
    world.segue(["run", "-d", "--name", NAME, "--worktree", BRANCH, "--repo", &url, &message])
}

fn remove(world: &World) -> CommandOutcome {
    world.segue(["worktree", "rm", BRANCH, "--yes"])
}

pub(super) fn run_and_repository_are_right(world: &World, outcome: &CommandOutcome) {
    run_was_true(world, outcome);
    if outcome.status == 0 {
        check_repositories(world);
    }
}

pub(super) fn repeat_unless_there(world: &World, run: fn(&World) -> CommandOutcome) {
    if world.sessions().is_empty() {
        let outcome = run(world);
        assert_eq!(outcome.status, 0, "{outcome:#?}");
    }
    check_repositories(world);
}

fn note_is_there_after_a_resume(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        let note = fs::read_to_string(folder(world).join(NOTE)).unwrap();
        assert_eq!(note, "keep me");
        check_repositories(world);
    }
}

fn with_repository(world: &World) {
    make_repository(&world.project());
}

/// Makes the project a repository with setup and teardown commands.
fn with_commands(world: &World) {
    with_repository(world);
    let setup = format!("echo $SEGUE_PORT > {INSTALLED}");
    let teardown = format!("rm {INSTALLED} {NOTE}");
    write_project(world, &format!("[worktrees]\nsetup = [{setup:?}]\nteardown = [{teardown:?}]\n"));
}

fn run_and_setup_are_right(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        check_repositories(world);
        check_setup(world);
    }
}

/// Checks that the setup of the session's worktree has succeeded.
fn check_setup(world: &World) {
    let installed = fs::read_to_string(folder(world).join(INSTALLED)).unwrap();
    assert!(installed.trim().parse::<u16>().is_ok(), "{installed}");
}

fn with_stopped_session(world: &World) {
    world.ok(["run", "-d", "--name", NAME, "--worktree", BRANCH, &prompt(NAME)]);
    wait_at_rest(world);
    fs::write(folder(world).join(NOTE), "keep me").unwrap();
    world.ok(["stop", NAME]);
}

fn folder(world: &World) -> PathBuf {
    world.session(NAME)["cwd"].as_str().unwrap().into()
}

/// Checks that no repository is damaged, and that no worktree is left locked.
pub(crate) fn check_repositories(world: &World) {
    let clones = fs::read_dir(world.segue_home().join("data/clones"));
    let clones = clones.into_iter().flatten().map(|entry| entry.unwrap().path());
    let own = Some(world.project()).filter(|folder| folder.join(".git").exists());
    for repository in clones.chain(own) {
        git(&repository, &["fsck", "--strict"]);
        let list = git(&repository, &["worktree", "list", "--porcelain"]);
        assert!(!list.contains("\nlocked"), "{list}");
    }
}
