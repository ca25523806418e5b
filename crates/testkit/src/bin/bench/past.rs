//! Measures commands beside 10,000 sessions that ended long ago. The baseline is the same commands
//! beside ten of them.

use std::path::Path;
use std::time::Duration;

use segue_testkit::{World, past_sessions, scene};

use crate::figures::resident;
use crate::table::{Aim, Figure, Row};
use crate::talk::send;
use crate::timing::{median, timed, whole_run};

const MANY: usize = 10_000;
const FEW: usize = 10;
const TIMES: usize = 15;

const AIM: Aim = Aim::Within(1.3);
const MEMORY_AIM: Aim = Aim::Below(Figure::Memory(60_000_000));

/// What the commands cost in one world.
struct Costs {
    daemon_start: Duration,
    run: Duration,
    list: Duration,
    send: Duration,
    /// Resident memory of the daemon after all commands.
    daemon: u64,
    /// Resident memory of the daemon after a list of all sessions, also those that have ended.
    daemon_after_list: u64,
}

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let (few, many) = (costs(program, FEW), costs(program, MANY));
    let row = |name: &str, of: fn(&Costs) -> Duration| {
        let (ours, baseline) = (Figure::Time(of(&many)), Figure::Time(of(&few)));
        Row::new(format!("{name}, beside 10,000 ended sessions"), ours).against(baseline).aim(AIM)
    };
    let memory = |name: &str, of: fn(&Costs) -> u64| {
        Row::new(name, Figure::Memory(of(&many))).against(Figure::Memory(of(&few)))
    };
    vec![
        row("daemon start", |it| it.daemon_start),
        row("run -d", |it| it.run),
        row("ls", |it| it.list),
        row("send until an idle agent has answered", |it| it.send),
        memory("  memory of the daemon", |it| it.daemon).aim(MEMORY_AIM),
        memory("  memory of the daemon after `ls --all`", |it| it.daemon_after_list)
            .aim(MEMORY_AIM),
    ]
}

fn costs(program: &Path, past: usize) -> Costs {
    let world = World::new(program);
    past_sessions::insert(&world, past);
    let daemon_start = median((0..TIMES).map(|_| start_daemon(&world)).collect());
    scene::start_with_word(&world, "alpha", "heron");
    let run = median((0..TIMES).map(|_| run(&world)).collect());
    let list = median((0..TIMES).map(|_| whole_run(&mut world.command(["ls"]))).collect());
    let send = median((0..TIMES).map(|number| send(&world, number)).collect());
    let daemon = resident(scene::daemon_pid(&world));
    let listed = world.json(["ls", "--json", "--all"]);
    let known = listed["sessions"].as_array().map_or(0, Vec::len);
    assert_eq!(known, past + 1 + TIMES, "the store does not have all sessions");
    let daemon_after_list = resident(scene::daemon_pid(&world));
    Costs { daemon_start, run, list, send, daemon, daemon_after_list }
}

fn start_daemon(world: &World) -> Duration {
    world.ok(["daemon", "stop"]);
    timed(|| world.ok(["daemon", "start"])).0
}

/// Starts an agent and stops it again. Returns the time of the start only.
fn run(world: &World) -> Duration {
    let (time, started) =
        timed(|| world.json(["run", "-d", "--vendor", "demo", "--json", "say hello"]));
    world.ok(["stop", scene::text(&started, "address")]);
    time
}
