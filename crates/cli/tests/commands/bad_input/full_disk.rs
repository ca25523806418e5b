//! A full disk: the error names it, nothing is lost, and Segue works again when there is space.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use segue_testkit::events::Events;
use segue_testkit::repositories::make_repository;
use segue_testkit::{World, scene};
use serde_json::Value;

use super::{assert_answers, assert_refused};
use crate::world;

/// A mount namespace in which a folder of a world is a small filesystem of its own.
struct SmallDisk {
    /// A process that keeps the namespace alive until it is killed.
    keeper: Child,
    world: World,
    /// The mount point.
    folder: PathBuf,
}

impl SmallDisk {
    /// Creates the namespace. Returns `None` and prints a notice if this machine allows none.
    fn new() -> Option<Self> {
        let world = world();
        let home = world.segue_home();
        Self::over(world, home)
    }

    /// Creates the namespace, in which this folder of a world is the small filesystem.
    #[expect(clippy::print_stderr, reason = "a skipped test prints the reason")]
    fn over(mut world: World, folder: PathBuf) -> Option<Self> {
        let script = r#"mount -t tmpfs -o size=2m,mode=700 none "$1" && echo mounted && exec cat"#;
        let mut keeper = Command::new("unshare");
        keeper.args(["-rm", "sh", "-c", script, "sh"]).arg(&folder);
        let mut keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.is_empty() {
            eprintln!("SKIPPED: this machine allows no mount namespace (`unshare -rm`)");
            keeper.wait().unwrap();
            return None;
        }
        let inside = ["nsenter", "--user", "--mount", "--preserve-credentials", "--target"];
        let start = format!("--wd={}", world.project().display());
        let words = inside.map(str::to_owned).into_iter().chain([keeper.id().to_string(), start]);
        world.start_through(words);
        Some(Self { keeper, world, folder })
    }

    /// Runs a shell command inside the namespace. Its first argument is the path of the small
    /// filesystem.
    fn shell(&self, script: &str) {
        let segue = self.world.command([""; 0]);
        let inside = segue.get_args().take_while(|word| *word != self.world.program());
        let mut command = Command::new(segue.get_program());
        command.args(inside).args(["sh", "-c", script, "sh"]).arg(&self.folder);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(status.success(), "{script}");
    }

    /// Writes a file until the disk is full.
    fn fill(&self) {
        self.shell("dd if=/dev/zero of=$1/ballast bs=1k; test -s $1/ballast");
    }

    /// Deletes that file.
    fn free(&self) {
        self.shell("rm $1/ballast");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        self.world.kill_everything();
        let _gone = self.keeper.kill();
        let _gone = self.keeper.wait();
    }
}

#[test]
fn full_disk_is_reported_and_loses_nothing() {
    let Some(disk) = SmallDisk::new() else { return };
    let world = &disk.world;
    world.ok(["run", "-d", "--name", "coder", "remember the word papaya"]);
    assert_answers(world, "coder", "which word, question 1?", "papaya");

    disk.fill();
    let outcome = world.segue(["run", "-d", "--name", "late", "hello"]);
    assert_refused(&outcome, 7, "the disk is full\n");
    assert!(outcome.stderr.contains("df -h "), "{outcome:?}");
    // A running agent continues, is listed, and answers.
    assert!(world.session("coder")["pid"].is_u64(), "{:#?}", world.sessions());
    assert_answers(world, "coder", "which word, question 2?", "papaya");
    let outcome = world.segue(["stop", "coder"]);
    assert_eq!(outcome.status, 7, "{outcome:?}");

    disk.free();
    // The daemon records now that the agent was stopped. It need not be restarted.
    let stopped =
        |event: &Value| event["kind"] == "status_changed" && event["text"] == "ended (stopped)";
    Events::of(world).wait_for(stopped).unwrap();
    assert_eq!(world.session("coder")["status_detail"], "stopped");
    world.ok(["run", "-d", "--name", "late", "remember the word lemon"]);
    assert_answers(world, "late", "which word, question 3?", "lemon");
    assert_eq!(world.json(["resume", "coder", "--json"])["complete"], true);
    assert_answers(world, "coder", "which word, question 4?", "papaya");
    assert_eq!(world.sessions().len(), 2);
}

#[test]
fn daemon_started_on_a_full_disk_works_as_soon_as_there_is_space() {
    let Some(disk) = SmallDisk::new() else { return };
    let world = &disk.world;
    disk.shell("mkdir -m 700 $1/state $1/data $1/state/launches $1/state/fleets $1/state/locks");
    disk.fill();
    let outcome = world.segue(["ls"]);
    assert_eq!(outcome.status, 7, "{outcome:?}");
    assert!(outcome.stderr.contains("df -h "), "{outcome:?}");
    disk.free();
    assert_eq!(world.ok(["ls", "--json"]), "{\"sessions\":[]}\n");
    world.ok(["run", "-d", "--name", "coder", "remember the word papaya"]);
    assert_answers(world, "coder", "which word, question 5?", "papaya");
}

/// Waits until a task has one of these states. Looks again after each event.
fn wait_for_state(world: &World, id: &str, states: &[&str]) -> Value {
    let mut events = Events::of(world);
    loop {
        let task = world.json(["task", "show", id, "--json"])["task"].clone();
        if task["state"].as_str().is_some_and(|state| states.contains(&state)) {
            return task;
        }
        events.wait_for(|event| event["kind"] == "task_changed").unwrap();
    }
}

#[test]
fn task_whose_worktree_finds_a_full_disk_waits_and_goes_on_when_there_is_space() {
    let world = world();
    make_repository(&world.project());
    let trees = world.root().join("trees");
    std::fs::create_dir(&trees).unwrap();
    scene::write_shop(&world, &format!("[worktrees]\npath = \"{}\"\n", trees.display()));
    // A daemon outside of the namespace has another disk.
    world.segue(["daemon", "stop"]);
    let Some(disk) = SmallDisk::over(world, trees) else { return };
    let world = &disk.world;
    disk.fill();
    let added = world.ok(["task", "add", "--agent", "coder", "--branch", "fix", "hello"]);
    let id = added.trim();
    let task = wait_for_state(world, id, &["waiting", "failed"]);
    assert_eq!(task["state"], "waiting", "{task:#}");
    let reason = task["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("No space left on device"), "{task:#}");
    disk.free();
    world.ok(["sweep"]);
    let task = wait_for_state(world, id, &["done", "failed"]);
    assert_eq!(task["state"], "done", "{task:#}");
}
