//! Failpoints: which ones a scenario passes, and the death of a process at one of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use segue_testkit::{World, processes};

/// A failpoint in the processes of one role.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) role: String,
    pub(crate) name: String,
}

/// Makes every process of a world log the failpoints that it passes while the gate is open.
pub(crate) fn list_all(world: &mut World) {
    arm(world, "list");
}

/// Makes a process of one role die when it passes a failpoint for the `hit`th time while the gate
/// is open.
pub(crate) fn kill_at(world: &mut World, point: &Point, hit: usize) {
    arm(world, &format!("{}:{hit}", point.name));
    world.set("SEGUE_FAILPOINT_ROLE", &point.role);
}

/// Removes the failpoint variables, so that new processes have no failpoints.
pub(crate) fn forget(world: &mut World) {
    for name in ["SEGUE_FAILPOINT", "SEGUE_FAILPOINT_ROLE", "SEGUE_FAILPOINT_GATE"] {
        world.unset(name);
    }
}

fn arm(world: &mut World, what: &str) {
    world.set("SEGUE_FAILPOINT", what);
    world.set("SEGUE_FAILPOINT_LOG", log(world).to_str().unwrap());
    world.set("SEGUE_FAILPOINT_GATE", gate(world).to_str().unwrap());
}

/// Opens the gate: from now on failpoints are active.
pub(crate) fn open_gate(world: &World) {
    fs::write(gate(world), "").unwrap();
}

/// Closes the gate, so that no process dies at a failpoint, and removes the variables.
pub(crate) fn disarm(world: &mut World) {
    // The process that died has removed the gate already.
    fs::remove_file(gate(world)).or_else(missing_is_fine).unwrap();
    forget(world);
}

fn missing_is_fine(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// Returns for each failpoint how often a single process passed it at most.
pub(crate) fn passed(world: &World) -> BTreeMap<Point, usize> {
    let mut by_process: BTreeMap<(Point, u32), usize> = BTreeMap::new();
    for (point, pid) in lines(world) {
        *by_process.entry((point, pid)).or_default() += 1;
    }
    let mut most = BTreeMap::new();
    for ((point, _), hits) in by_process {
        let known = most.entry(point).or_insert(hits);
        *known = hits.max(*known);
    }
    most
}

/// Returns whether a process died at its failpoint. Waits until that process is gone.
pub(crate) fn has_killed(world: &World) -> bool {
    let killed = lines(world);
    killed.iter().for_each(|(_, pid)| processes::wait_gone(*pid));
    !killed.is_empty()
}

fn lines(world: &World) -> Vec<(Point, u32)> {
    let text = fs::read_to_string(log(world)).unwrap_or_default();
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let &[role, name, pid] = words.as_slice() else { panic!("an unexpected line: {line}") };
        (Point { role: role.to_owned(), name: name.to_owned() }, pid.parse().unwrap())
    };
    text.lines().map(line).collect()
}

fn log(world: &World) -> PathBuf {
    world.root().join("points")
}

fn gate(world: &World) -> PathBuf {
    world.root().join("gate")
}
