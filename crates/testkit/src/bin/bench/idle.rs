//! Measures the cost of an idle fleet. The baseline is processes that only sleep.

use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use crate::figures::{ProcessUsage, own_memory, resident};
use crate::fleet::{self, AGENTS, Processes};
use crate::table::{Aim, Figure, Row};

/// The pause before the measurement, long enough for all work after the last turns to finish.
pub(crate) const SETTLE: Duration = Duration::from_secs(5);
pub(crate) const WINDOW: Duration = Duration::from_secs(20);

pub(crate) const LOAD_AIM: Aim = Aim::Below(Figure::Load(0.005));
const DAEMON_AIM: Aim = Aim::Below(Figure::Memory(40_000_000));
const HOLDER_AIM: Aim = Aim::Below(Figure::Memory(4_000_000));

#[expect(clippy::disallowed_methods, reason = "the benchmark measures a period of time")]
pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let (world, _) = fleet::bring_up(program);
    let processes = Processes::of(&world);
    let ours = [&processes.daemons[..], &processes.holders].concat();
    let waiters = Waiters::start(AGENTS + 1);
    let bare = waiters.pids();
    thread::sleep(SETTLE);
    let before = (ProcessUsage::of(&ours), ProcessUsage::of(&bare));
    thread::sleep(WINDOW);
    let (ours, idle) =
        (ProcessUsage::of(&ours).since(before.0), ProcessUsage::of(&bare).since(before.1));
    let largest = |of: fn(u32) -> u64, pids: &[u32]| {
        Figure::Memory(pids.iter().map(|pid| of(*pid)).max().unwrap_or_default())
    };
    vec![
        Row::new("idle for 20 s: daemon and 50 holders, of a core", load(ours))
            .against(load(idle))
            .aim(LOAD_AIM),
        Row::new("  how often any of them woke up", Figure::Count(ours.switches))
            .against(Figure::Count(idle.switches)),
        Row::new("  memory of the daemon", largest(resident, &processes.daemons))
            .against(largest(resident, &bare))
            .aim(DAEMON_AIM),
        Row::new("  own memory of the largest holder", largest(own_memory, &processes.holders))
            .against(largest(own_memory, &bare))
            .aim(HOLDER_AIM),
    ]
}

/// Returns the share of a core that processes have used in the window.
pub(crate) fn load(usage: ProcessUsage) -> Figure {
    Figure::Load(usage.processor.div_duration_f64(WINDOW))
}

/// Processes that only sleep. They are killed when this value is dropped.
pub(crate) struct Waiters(Vec<Child>);

impl Waiters {
    pub(crate) fn start(count: usize) -> Self {
        let start = |_| Command::new("sleep").arg("infinity").spawn().expect("sleep starts");
        Self((0..count).map(start).collect())
    }

    pub(crate) fn pids(&self) -> Vec<u32> {
        self.0.iter().map(Child::id).collect()
    }
}

impl Drop for Waiters {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _gone = child.kill();
            let _gone = child.wait();
        }
    }
}
