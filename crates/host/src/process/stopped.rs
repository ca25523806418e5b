//! Finds processes that a signal or a debugger has stopped.

use std::collections::VecDeque;
use std::fs;

use segue_core::model::ProcessRef;

use super::is_alive;
use super::stat::{ProcessState, Stat};

/// At most this many processes are examined. An agent and its wrapper processes are fewer.
const MAX_EXAMINED: usize = 16;

/// Returns whether this process is stopped. Another process with the same id does not count.
pub fn is_stopped(process: &ProcessRef) -> bool {
    Stat::read(process.pid).is_some_and(|stat| stat.activity == ProcessState::Stopped)
        && is_alive(process)
}

/// Returns a stopped process of an agent: the agent itself, or a descendant in the agent's process
/// group or in the foreground group of its terminal. A background job of a shell does not count.
pub fn stopped_below(agent: &ProcessRef) -> Option<u32> {
    let top = Stat::read(agent.pid).filter(|_| is_alive(agent))?;
    let is_agents = |stat: &Stat| stat.group == top.group || Some(stat.group) == top.foreground;
    let mut next: VecDeque<u32> = [agent.pid].into();
    for _ in 0..MAX_EXAMINED {
        let Some(stat) = Stat::read(next.pop_front()?) else { continue };
        if stat.activity == ProcessState::Stopped && (stat.pid == agent.pid || is_agents(&stat)) {
            return Some(stat.pid);
        }
        next.extend(forked_by(stat.pid));
    }
    None
}

/// Returns the children that a process's first thread forked. Empty on a kernel without that list.
fn forked_by(pid: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
