//! `segue run -d` until the agent's program runs, against a bare fork and exec of it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use segue_testkit::World;
use uuid::Uuid;

use crate::table::{Figure, Row};
use crate::timing::{median, timed, whole_run};

const TIMES: usize = 30;

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    // The first one starts the daemon.
    start(&world, "warm");
    let names = (0..TIMES).map(|number| format!("agent-{number}"));
    let ours = median(names.map(|name| start(&world, &name)).collect());
    let bare = median((0..TIMES).map(|_| start_bare(&world, program)).collect());
    let command = median((0..TIMES).map(|_| version(&world)).collect());
    vec![
        Row::new("run -d until the agent is executed", Figure::Time(ours))
            .against(Figure::Time(bare)),
        Row::new("  of that the command itself (--version)", Figure::Time(command)),
    ]
}

/// Starts an agent, and ends it again; only the start counts.
fn start(world: &World, name: &str) -> Duration {
    let mut command = world.command(["run", "-d", "--vendor", "demo", "--name", name]);
    let time = whole_run(&mut command);
    world.ok(["stop", name]);
    time
}

/// Starting a child returns when its program was executed.
fn start_bare(world: &World, program: &Path) -> Duration {
    let mut command = Command::new(program);
    command.args(["demo-agent", "--session-id", &Uuid::new_v4().to_string()]);
    command.current_dir(world.project()).env_clear().envs(world.environment());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let (time, mut child) = timed(|| command.spawn().expect("the agent starts"));
    // Without a terminal it may have ended already.
    let _ended = child.kill();
    child.wait().expect("a child");
    time
}

pub(crate) fn version(world: &World) -> Duration {
    whole_run(&mut world.command(["--version"]))
}
