//! Setup and teardown commands of worktrees.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use segue_testkit::scene::{self, assert_knows, text};
use segue_testkit::{CommandOutcome, Terminal, World, hold, processes};

use super::{start, worktrees, world_with_repository};

const RUN: [&str; 9] = [
    "run",
    "-d",
    "--vendor",
    "demo",
    "--name",
    "fox",
    "--worktree",
    "fix",
    "remember the word fox",
];

/// Writes and trusts a project file with this table `[worktrees]`.
fn trust_commands(world: &World, lines: &str) {
    scene::write_project(world, &format!("[worktrees]\n{lines}\n"));
}

/// Returns a command that adds a line to a file outside of the worktree, and that file.
fn counting_command(world: &World) -> (String, PathBuf) {
    let file = world.root().join("runs");
    (format!("echo once >> {}", file.display()), file)
}

fn count(file: &Path) -> usize {
    fs::read_to_string(file).unwrap_or_default().lines().count()
}

/// Creates a named pipe. A command that reads it waits until it is opened for writing.
fn pipe(world: &World) -> PathBuf {
    let pipe = world.root().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    pipe
}

/// Waits until a command reads the pipe, and lets it continue when the result is dropped.
fn open(pipe: &Path) -> fs::File {
    OpenOptions::new().write(true).open(pipe).unwrap()
}

/// Returns the processes that have this text in their command line.
fn processes_with(world: &World, text: &str) -> Vec<u32> {
    let has_text = |pid: &u32| processes::command_line(*pid).iter().any(|it| it.contains(text));
    world.processes().into_iter().filter(has_text).collect()
}

#[test]
fn setup_runs_once_for_two_sessions_in_the_same_worktree() {
    let world = world_with_repository();
    let (count_it, runs) = counting_command(&world);
    let write = "echo $SEGUE_AGENT $SEGUE_PORT $SEGUE_SESSION > installed";
    trust_commands(&world, &format!("setup = [{write:?}, {count_it:?}]"));
    let (_, folder) = start(&world, "fox", "fix");
    let port = &worktrees(&world)[0]["port"];
    assert_eq!(fs::read_to_string(folder.join("installed")).unwrap(), format!("demo {port}\n"));
    let log = world.ok(["log"]);
    assert!(log.contains("setup of branch fix: echo once"), "{log}");
    world.kill_everything();
    world.resume(["fox"]).assert_back("fox", "resumed");
    world.ok(["stop", "fox"]);
    world.ok(["rm", "fox", "--yes"]);
    start(&world, "owl", "fix");
    assert_eq!(count(&runs), 1);
}

#[test]
fn failed_setup_is_explained_and_runs_again_at_the_next_run() {
    let world = world_with_repository();
    let (count_it, runs) = counting_command(&world);
    let ready = world.root().join("ready");
    let check = format!("echo looking for it; test -e {}", ready.display());
    trust_commands(&world, &format!("setup = [{count_it:?}, {check:?}, \"touch last\"]"));
    let failed = world.segue(RUN);
    assert_eq!(failed.status, 5, "{failed:#?}");
    for words in ["test -e", "exit status: 1", "looking for it", "worktree-logs"] {
        assert!(failed.stderr.contains(words), "{words}: {failed:#?}");
    }
    assert!(world.sessions().is_empty());
    let logs = world.segue_home().join("state/worktree-logs");
    let log = fs::read_dir(&logs).unwrap().next().unwrap().unwrap().path();
    let logged = fs::read_to_string(&log).unwrap();
    assert!(logged.contains("\nlooking for it\n[exit status: 1]\n"), "{logged}");
    fs::write(ready, "").unwrap();
    world.ok(RUN);
    assert_eq!(count(&runs), 2);
    let folder = PathBuf::from(text(&world.session("fox"), "cwd"));
    assert!(folder.join("last").exists());
}

#[test]
fn setup_that_takes_too_long_is_ended() {
    let world = world_with_repository();
    let pipe = pipe(&world);
    let lines = format!("setup = [\"cat {}\"]\nsetup_timeout = \"1s\"", pipe.display());
    trust_commands(&world, &lines);
    let failed = world.segue(RUN);
    assert_eq!(failed.status, 5, "{failed:#?}");
    assert!(failed.stderr.contains("it took longer than 1 s"), "{failed:#?}");
    assert_eq!(processes_with(&world, pipe.to_str().unwrap()), Vec::<u32>::new());
}

#[test]
fn setup_runs_again_after_a_worktree_was_removed() {
    let world = world_with_repository();
    let (count_it, runs) = counting_command(&world);
    trust_commands(&world, &format!("setup = [{count_it:?}]"));
    let (_, folder) = start(&world, "fox", "fix");
    world.ok(["stop", "fox"]);
    world.ok(["worktree", "rm", "fox", "--yes"]);
    let report = world.resume(["fox", "--stopped"]);
    report.assert_back("fox", "resumed");
    assert!(report.note("fox").contains("its worktree was made again"), "{report:#?}");
    assert_eq!(count(&runs), 2);
    fs::write(folder.join("note.txt"), "keep me").unwrap();
    world.ok(["stop", "fox"]);
    world.ok(["worktree", "rm", "fox", "--yes"]);
    world.ok(["worktree", "restore", "fix"]);
    assert_eq!(count(&runs), 3);
    world.resume(["fox", "--stopped"]).assert_back("fox", "resumed");
    assert_eq!(count(&runs), 3);
    assert_knows(&world, "fox", "fox");
}

#[test]
fn stop_does_not_wait_for_the_setup_of_a_session_that_comes_back() {
    let world = world_with_repository();
    let pipe = pipe(&world);
    trust_commands(&world, &format!("setup = [\"cat {}\"]", pipe.display()));
    let run = world.start(RUN);
    drop(open(&pipe));
    assert_eq!(scene::finish(run).status, 0);
    world.ok(["stop", "fox"]);
    world.ok(["worktree", "rm", "fox", "--yes"]);
    let resume = world.command(["resume", "fox", "--stopped"]);
    let mut person = Terminal::start(&resume, 24, 200);
    person.wait_for("setup of branch fix: cat");
    let removal = world.segue(["worktree", "rm", "fox", "--yes"]);
    assert_eq!(removal.status, 4, "{removal:#?}");
    world.ok(["stop", "fox"]);
    assert_eq!(person.wait(), 8, "{person:?}");
    assert!(person.contents().contains("was stopped before it started"), "{person:?}");
    let resume = world.start(["resume", "fox", "--stopped"]);
    drop(open(&pipe));
    assert_eq!(scene::finish(resume).status, 0);
}

#[test]
fn teardown_runs_before_the_removal_and_its_failure_is_a_warning() {
    let world = world_with_repository();
    let (count_it, runs) = counting_command(&world);
    let lines = format!("teardown = [\"rm code.txt note.txt\", {count_it:?}, \"echo no; false\"]");
    trust_commands(&world, &lines);
    let (_, folder) = start(&world, "fox", "fix");
    fs::write(folder.join("note.txt"), "keep me").unwrap();
    world.ok(["stop", "fox"]);
    let removed = world.segue(["worktree", "rm", "fox", "--yes"]);
    assert_eq!(removed.status, 0, "{removed:#?}");
    assert!(removed.stderr.contains("teardown command `echo no; false` failed"), "{removed:#?}");
    assert!(!folder.exists());
    assert_eq!(count(&runs), 1);
    world.ok(["worktree", "restore", "fix"]);
    assert_eq!(fs::read_to_string(folder.join("note.txt")).unwrap(), "keep me");
    assert_eq!(fs::read_to_string(folder.join("code.txt")).unwrap(), "one\n");
    world.ok(["rm", "fox", "--yes"]);
    let collected = world.json(["worktree", "gc", "--json"]);
    assert_eq!(collected["removed"][0]["outcome"], "removed", "{collected:#}");
    assert_eq!(collected["removed"][0]["notices"].as_array().unwrap().len(), 1, "{collected:#}");
    assert_eq!(count(&runs), 2);
}

#[test]
fn changed_command_must_be_trusted_again() {
    let world = world_with_repository();
    let commands = "setup = [\"touch one\"]\nteardown = [\"touch two\"]";
    world.write("segue.toml", &format!("[worktrees]\n{commands}\n"));
    let trusted = world.segue(["trust", "--yes"]);
    let shown = format!("{}{}", trusted.stdout, trusted.stderr);
    assert!(shown.contains("runs `touch one` in each new worktree"), "{shown}");
    assert!(shown.contains("runs `touch two` before a worktree is removed"), "{shown}");
    world.write("segue.toml", "[worktrees]\nsetup = [\"touch other\"]\n");
    let refused = world.segue(RUN);
    assert_eq!(refused.status, 5, "{refused:#?}");
    for words in ["changed: worktrees: setup 1", "runs `touch other` in each new worktree"] {
        assert!(refused.stderr.contains(words), "{words}: {refused:#?}");
    }
    assert!(worktrees(&world).is_empty());
}

#[test]
fn setup_succeeds_once_whenever_the_daemon_is_killed() {
    let table =
        [("worktree.setup.before", 1), ("worktree.setup.after", 2), ("worktree.setup.recorded", 1)];
    for (point, expected) in table {
        let mut world = world_with_repository();
        let (count_it, runs) = counting_command(&world);
        trust_commands(&world, &format!("setup = [{count_it:?}]"));
        world.ok(["daemon", "stop"]);
        hold::kill_both_at(&mut world, point, |world| world.start(RUN));
        let again = CommandOutcome::of(&mut world.command(RUN));
        assert_eq!(again.status, 0, "{point}: {again:#?}");
        assert_eq!(count(&runs), expected, "{point}");
        scene::wait_first_turns(&world);
        world.kill_everything();
        world.resume(["fox"]).assert_back("fox", "resumed");
        assert_eq!(count(&runs), expected, "{point}");
    }
}

#[test]
fn setup_of_a_killed_daemon_is_ended_before_it_runs_again() {
    let world = world_with_repository();
    let (pipe, (count_it, runs)) = (pipe(&world), counting_command(&world));
    let read = format!("cat {}", pipe.display());
    trust_commands(&world, &format!("setup = [{read:?}, {count_it:?}]"));
    let mut run = world.start(RUN);
    let held = open(&pipe);
    run.kill().and_then(|()| run.wait()).unwrap();
    scene::kill_daemon(&world);
    let old = processes_with(&world, pipe.to_str().unwrap());
    assert!(!old.is_empty());
    fs::remove_file(&pipe).unwrap();
    fs::write(&pipe, "").unwrap();
    world.ok(RUN);
    old.into_iter().for_each(processes::wait_gone);
    drop(held);
    assert_eq!(count(&runs), 1);
}

#[test]
fn requests_about_a_session_are_answered_while_a_teardown_runs() {
    let world = world_with_repository();
    let pipe = pipe(&world);
    trust_commands(&world, &format!("teardown = [\"cat {}\"]", pipe.display()));
    let (_, folder) = start(&world, "fox", "fix");
    world.ok(["stop", "fox"]);
    let mut remove = world.start(["worktree", "rm", "fox", "--yes"]);
    let held = open(&pipe);
    world.ok(["ls"]);
    world.ok(["stop", "fox"]);
    let message = world.ok(["send", "fox", "--no-wait", "what is the word?"]);
    world.ok(["messages", "--cancel", message.trim()]);
    let planned = world.json(["resume", "fox", "--stopped", "--plan", "--json"]);
    assert_eq!(planned["plan"][0]["name"], "fox", "{planned:#}");
    assert_eq!(remove.try_wait().unwrap(), None, "the teardown still runs");
    drop(held);
    assert!(remove.wait().unwrap().success());
    assert!(!folder.exists());
    world.resume(["fox", "--stopped"]).assert_back("fox", "resumed");
    assert_knows(&world, "fox", "fox");
}

#[test]
fn start_that_is_requested_while_a_teardown_runs_restores_the_worktree_after_it() {
    let world = world_with_repository();
    let pipe = pipe(&world);
    trust_commands(&world, &format!("teardown = [\"cat {}\"]", pipe.display()));
    let (_, folder) = start(&world, "fox", "fix");
    fs::write(folder.join("note.txt"), "keep me").unwrap();
    world.ok(["stop", "fox"]);
    let mut remove = world.start(["worktree", "rm", "fox", "--yes"]);
    let held = open(&pipe);
    let mut resume = world.start(["resume", "fox", "--stopped"]);
    drop(held);
    assert!(remove.wait().unwrap().success());
    assert!(resume.wait().unwrap().success());
    assert_eq!(fs::read_to_string(folder.join("note.txt")).unwrap(), "keep me");
    assert_knows(&world, "fox", "fox");
}
