//! Measures commands beside 10,000 sessions that ended long ago. The baseline is the same commands
//! beside ten of them.

use std::path::Path;
use std::time::Duration;

use segue_core::model::{FleetName, How, Status, VendorId};
use segue_core::ports::{Change, Commit, Store};
use segue_testkit::contract::store::Samples;
use segue_testkit::{World, scene};

use crate::figures::resident;
use crate::lists::{past_launch, with_store};
use crate::table::{Aim, Figure, Row};
use crate::talk::send;
use crate::timing::{median, timed, whole_run};

const MANY: usize = 10_000;
const FEW: usize = 10;
const TIMES: usize = 15;

/// The sessions that one commit adds to the store.
const BATCH: usize = 500;

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
        memory("  memory of the daemon after `ls --all`", |it| it.daemon_after_list),
    ]
}

fn costs(program: &Path, past: usize) -> Costs {
    let world = World::new(program);
    with_store(&world, async |store| fill(store, &world, past).await);
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

/// Adds sessions of the folder in which the commands run. The daemon must not run.
async fn fill(store: &dyn Store, world: &World, past: usize) {
    let samples = Samples::default();
    let fleet = FleetName::parse("default").expect("a name");
    let fleet = Change::PutFleet(segue_core::model::Fleet { name: fleet, folder: None });
    store.commit(Commit { changes: vec![fleet], events: Vec::new() }).await.expect("a commit");
    for first in (0..past).step_by(BATCH) {
        let numbers = first..past.min(first + BATCH);
        let changes = numbers.flat_map(|number| past_session(&samples, world, number));
        let commit = Commit { changes: changes.collect(), events: Vec::new() };
        store.commit(commit).await.expect("a commit");
    }
}

/// Returns the changes that store a session which ended long ago.
fn past_session(samples: &Samples, world: &World, number: usize) -> Vec<Change> {
    let mut session = samples.session("default", &format!("past-{number}"));
    session.vendor = VendorId::new("demo");
    session.cwd = world.project();
    session.config_dir = world.home().join(".segue-demo");
    session.has_content = true;
    (session.status, session.headless) = match number % 3 {
        0 => (Status::Ended(How::Quit), false),
        1 => (Status::Ended(How::Stopped), false),
        _ => (Status::Idle, true),
    };
    let id = session.id;
    let mut changes = vec![Change::CreateSession(Box::new(session))];
    changes.extend(past_launch(samples, id, 1));
    changes
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
