//! Measures `segue resume` of a fleet whose processes were all killed. The baseline starts the same
//! agents without Segue.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use segue_host::watch::Watcher;
use segue_testkit::World;
use segue_testkit::runtime::block_on;
use serde_json::Value;

use crate::bare::Bare;
use crate::figures::ProcessUsage;
use crate::fleet::{self, AGENTS, Processes};
use crate::table::{Aim, Figure, Row};
use crate::timing::{median, timed};

const ROUNDS: usize = 3;
const AIM: Duration = Duration::from_millis(20);

/// The results of one round, divided by the number of agents.
struct Round {
    ours: Duration,
    bare: Duration,
    /// The processor time for each agent: of the daemon, of its holder and of the agent itself.
    processor: [Duration; 3],
}

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let (world, sessions) = fleet::bring_up(program);
    let rounds: Vec<Round> = (0..ROUNDS).map(|_| round(&world, &sessions, program)).collect();
    let middle = |of: &dyn Fn(&Round) -> Duration| median(rounds.iter().map(of).collect());
    let (ours, bare) = (middle(&|round| round.ours), middle(&|round| round.bare));
    let own = middle(&|round| round.ours.saturating_sub(round.bare));
    let processor = |of: usize| Figure::Time(middle(&|round| round.processor[of]));
    vec![
        Row::new("resume of 50 killed agents, for each", Figure::Time(ours))
            .against(Figure::Time(bare)),
        Row::new("  our own cost for each", Figure::Time(own)).aim(Aim::Below(Figure::Time(AIM))),
        Row::new("  processor time for each: the daemon", processor(0)),
        Row::new("  processor time for each: its holder", processor(1)),
        Row::new("  processor time for each: itself", processor(2)),
    ]
}

fn round(world: &World, sessions: &[Value], program: &Path) -> Round {
    world.kill_everything();
    let (ours, report) = timed(|| world.json(["resume", "--all", "--json"]));
    assert_eq!(report["complete"], true, "{report:#}");
    let processes = Processes::of(world);
    let used = |pids: &[u32]| each(ProcessUsage::of(pids).processor);
    let processor = [used(&processes.daemons), used(&processes.holders), used(&processes.agents)];
    world.kill_everything();
    let bare = start_bare(world, sessions, program);
    Round { ours: each(ours), bare: each(bare), processor }
}

fn each(all: Duration) -> Duration {
    all / u32::try_from(AGENTS).unwrap_or(1)
}

/// Starts all agents with the same conversations, and waits until each has written its live file,
/// which names its conversation.
fn start_bare(world: &World, sessions: &[Value], program: &Path) -> Duration {
    let live = world.home().join(".segue-demo").join("live");
    let (time, agents) = timed(|| {
        block_on(async {
            let mut watcher = Watcher::new().expect("a watcher");
            watcher.add(&live).expect("watched");
            let agents: Vec<Bare> = sessions.iter().map(|it| bare(world, it, program)).collect();
            wait_all_live(&live, &mut watcher, &agents).await;
            agents
        })
    });
    agents.into_iter().for_each(Bare::kill);
    time
}

fn bare(world: &World, session: &Value, program: &Path) -> Bare {
    let id = session["vendor_session_id"].as_str().expect("an id");
    let mut command = Command::new(program);
    command.args(["demo-agent", "--resume", id]);
    command.current_dir(world.project()).env_clear().envs(world.environment());
    Bare::start(&mut command)
}

/// Waits until each agent has its live file.
async fn wait_all_live(live: &Path, watcher: &mut Watcher, agents: &[Bare]) {
    let entry = |agent: &Bare| live.join(format!("{}.json", agent.pid()));
    let mut missing: HashSet<_> = agents.iter().map(entry).collect();
    loop {
        missing.retain(|path| !path.exists());
        if missing.is_empty() {
            return;
        }
        watcher.next().await.expect("a change");
    }
}
