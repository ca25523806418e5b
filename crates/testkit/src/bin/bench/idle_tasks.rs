//! Measures the cost of an idle daemon with many worktrees and many open tasks. The baseline is a
//! process that only sleeps.

use std::fs;
use std::path::Path;
use std::thread;

use segue_testkit::repositories::make_repository;
use segue_testkit::{World, scene};

use crate::figures::{ProcessUsage, resident};
use crate::idle::{LOAD_AIM, SETTLE, WINDOW, Waiters, load};
use crate::table::{Aim, Figure, Row};
use crate::tasks::{TASKS, add_open};

const WORKTREES: usize = 200;

const WAKE_UPS_AIM: Aim = Aim::Below(Figure::Count(1));

#[expect(clippy::disallowed_methods, reason = "the benchmark measures a period of time")]
pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    make_worktrees(&world);
    world.ok(["daemon", "stop"]);
    add_open(&world, TASKS);
    assert_eq!(count(&world, ["task", "ls", "--json"], "tasks"), TASKS);
    assert_eq!(count(&world, ["worktree", "ls", "--json"], "worktrees"), WORKTREES);
    let daemon = [scene::daemon_pid(&world)];
    let waiters = Waiters::start(1);
    let bare = waiters.pids();
    thread::sleep(SETTLE);
    let before = (ProcessUsage::of(&daemon), ProcessUsage::of(&bare));
    thread::sleep(WINDOW);
    let (own, idle) =
        (ProcessUsage::of(&daemon).since(before.0), ProcessUsage::of(&bare).since(before.1));
    let name = "idle for 20 s: daemon, 200 worktrees, 10,000 tasks, of a core";
    vec![
        Row::new(name, load(own)).against(load(idle)).aim(LOAD_AIM),
        Row::new("  how often it woke up", Figure::Count(own.switches))
            .against(Figure::Count(idle.switches))
            .aim(WAKE_UPS_AIM),
        Row::new("  memory of the daemon", Figure::Memory(resident(daemon[0])))
            .against(Figure::Memory(resident(bare[0]))),
    ]
}

/// Makes the worktrees as tasks do: an agent has done a task in each of them.
fn make_worktrees(world: &World) {
    make_repository(&world.project());
    scene::write_shop(world, "");
    let limits = "[tasks]\nper_agent = 4\n";
    fs::write(world.segue_home().join("config.toml"), limits).expect("a settings file");
    let add = |number: usize| {
        let branch = format!("work-{number}");
        let words = ["task", "add", "--agent", "coder", "--branch", &branch, "say hello"];
        world.ok(words).trim().to_owned()
    };
    let tasks: Vec<String> = (0..WORKTREES).map(add).collect();
    for task in tasks {
        world.ok(["task", "wait", &task]);
    }
}

/// Returns the number of elements in a list that a command prints.
fn count<const N: usize>(world: &World, command: [&str; N], list: &str) -> usize {
    world.json(command)[list].as_array().map_or(0, Vec::len)
}
