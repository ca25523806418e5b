//! Measures `segue run -d` until the agent's program is executed. The baseline is only a fork and
//! an exec of the program.

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
    // The first command starts the daemon, so it is not measured.
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

/// Starts an agent and stops it again. Returns the time of the start only.
fn start(world: &World, name: &str) -> Duration {
    let mut command = world.command(["run", "-d", "--vendor", "demo", "--name", name]);
    let time = whole_run(&mut command);
    world.ok(["stop", name]);
    time
}

/// Measures a fork and an exec: `spawn` returns when the child process has executed its program.
fn start_bare(world: &World, program: &Path) -> Duration {
    let mut command = Command::new(program);
    command.args(["demo-agent", "--session-id", &Uuid::new_v4().to_string()]);
    command.current_dir(world.project()).env_clear().envs(world.environment());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let (time, mut child) = timed(|| command.spawn().expect("the agent starts"));
    // Killing fails if the agent has already exited, because it has no terminal.
    let _ended = child.kill();
    child.wait().expect("a child");
    time
}

pub(crate) fn version(world: &World) -> Duration {
    whole_run(&mut world.command(["--version"]))
}
