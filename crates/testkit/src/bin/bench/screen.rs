//! Measures the terminal UI in a terminal: from a key to its frame, and how often it wakes up.

use std::path::Path;
use std::thread;
use std::time::Duration;

use segue_testkit::{Terminal, World};

use crate::figures::ProcessUsage;
use crate::fleet::{self, Processes};
use crate::idle::{SETTLE, WINDOW, Waiters};
use crate::lists::{SESSIONS, fill};
use crate::starts::version;
use crate::table::{Aim, Figure, Row};
use crate::timing::{median, timed};

const ROWS: u16 = 40;
const COLUMNS: u16 = 120;
const KEYS: usize = 300;
const STARTS: usize = 10;
const FRAME_AIM: Aim = Aim::Below(Figure::Time(Duration::from_millis(16)));
const START_AIM: Aim = Aim::Below(Figure::Time(Duration::from_millis(50)));
const WAKE_AIM: Aim = Aim::Below(Figure::Count(1));

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    [keys(program), idle(program)].concat()
}

/// Opens the UI, and waits until it shows this text.
fn open(world: &World, text: &str) -> Terminal {
    let none: [&str; 0] = [];
    let mut person = Terminal::start(&world.command(none), ROWS, COLUMNS);
    person.wait_for(text);
    person
}

fn keys(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    fill(&world, SESSIONS);
    world.ok(["ls"]);
    let bare = median((0..STARTS).map(|_| version(&world)).collect());
    let start = |_| timed(|| open(&world, "agent-")).0;
    let started = median((0..STARTS).map(start).collect());
    let mut person = open(&world, "agent-");
    // Sorted by name, the next row is always another session.
    person.write("o");
    person.wait_for("sorted by name");
    let mut times: Vec<Duration> = (0..KEYS).map(|_| pressed(&mut person)).collect();
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    vec![
        Row::new("the screen, from start to first frame, 1,000 sessions", Figure::Time(started))
            .against(Figure::Time(bare))
            .aim(START_AIM),
        Row::new("  from a key to its frame, median", Figure::Time(at(50))),
        Row::new("  from a key to its frame, 99 of 100", Figure::Time(at(99))).aim(FRAME_AIM),
    ]
}

/// Selects the next session. Returns the time until the right side names it.
fn pressed(person: &mut Terminal) -> Duration {
    let before = title(&person.contents());
    let (time, ()) = timed(|| {
        person.write("j");
        person.wait_until("another session", |screen| title(&screen.contents()) != before);
    });
    time
}

/// Returns the row with the name of the selected session.
fn title(contents: &str) -> String {
    contents.lines().find(|line| line.contains("1 screen")).unwrap_or_default().to_owned()
}

#[expect(clippy::disallowed_methods, reason = "the benchmark measures a period of time")]
fn idle(program: &Path) -> Vec<Row> {
    let (world, _) = fleet::bring_up(program);
    let person = open(&world, "agent-1");
    let daemons = Processes::of(&world).daemons;
    let waiters = Waiters::start(1);
    thread::sleep(SETTLE);
    let all = [vec![person.pid()], daemons, waiters.pids()];
    let before = all.each_ref().map(|pids| ProcessUsage::of(pids));
    thread::sleep(WINDOW);
    let [ui, daemon, bare] = all.each_ref().map(|pids| ProcessUsage::of(pids));
    let count = |now: ProcessUsage, at: usize| {
        Figure::Count(before.get(at).map_or(0, |it| now.since(*it).switches))
    };
    vec![
        Row::new("the screen, 50 idle agents, 20 s: how often it woke up", count(ui, 0))
            .against(count(bare, 2))
            .aim(WAKE_AIM),
        Row::new("  how often the daemon woke up", count(daemon, 1))
            .against(count(bare, 2))
            .aim(WAKE_AIM),
    ]
}
