//! A process and its ancestors, read in a way that detects reused process ids.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use segue_core::model::ProcessRef;
use segue_core::rules::origin::LineageReach;

use super::boot;
use super::stat::Stat;

/// The maximum depth of a lineage. Shells nest less deeply, and a deeper lineage is not followed.
const MAX_DEPTH: usize = 1024;
/// The maximum number of repeated walks. The ancestors of a normal process do not change that often.
const MAX_WALKS: usize = 20;
/// The first process. It never belongs to an agent, and it may be hidden.
const INIT: u32 = 1;

/// One process of a lineage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) process: ProcessRef,
    /// The process id of its parent. 0 if it has no parent.
    parent: u32,
    /// The session (`setsid`) of the process.
    pub(crate) session: i32,
}

/// A process and its ancestors, nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lineage {
    pub(crate) members: Vec<Member>,
    pub(crate) reach: LineageReach,
}

impl Lineage {
    /// Returns whether a process is in the lineage.
    pub(crate) fn has(&self, pid: u32) -> bool {
        self.members.iter().any(|member| member.process.pid == pid)
    }
}

/// Follows the parents of a process. Repeats the walk until two consecutive walks find the same
/// processes with the same parents. Then no process id was reused during the walk.
pub(crate) fn lineage(pid: u32) -> Lineage {
    let mut last = None;
    for _ in 0..=MAX_WALKS {
        let walked = walk(pid, read, is_hidden);
        match walked {
            Some(lineage) if last.as_ref() == Some(&lineage) => return lineage,
            walked => last = walked,
        }
    }
    Lineage { members: Vec::new(), reach: LineageReach::Unknown }
}

/// Follows the parents of a process once. Returns `None` if an ancestor exits meanwhile. Its child
/// then gets another parent, and a process of an agent must not hide its origin in this way.
fn walk(
    pid: u32,
    read: impl Fn(u32) -> Option<Member>,
    is_hidden: impl Fn(u32) -> bool,
) -> Option<Lineage> {
    let mut members: Vec<Member> = Vec::new();
    let mut next = pid;
    let reach = loop {
        if members.len() == MAX_DEPTH {
            break LineageReach::Unknown;
        }
        let Some(member) = read(next) else {
            break match next {
                _ if members.is_empty() => LineageReach::Unknown,
                INIT => LineageReach::Root,
                _ if is_hidden(next) && read(next).is_none() => LineageReach::Hidden,
                _ => return None,
            };
        };
        let parent = member.parent;
        members.push(member);
        match parent {
            0 => break LineageReach::Root,
            parent => next = parent,
        }
    };
    Some(Lineage { members, reach })
}

fn read(pid: u32) -> Option<Member> {
    let Stat { parent, session, started, .. } = Stat::read(pid)?;
    let process = ProcessRef { pid, started, boot: boot()?.to_owned() };
    Some(Member { process, parent, session })
}

/// Returns whether a process exists although `/proc` does not list it. The mount option `hidepid`
/// hides processes of other users.
fn is_hidden(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::PERM))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn lineage_reaches_the_first_process() {
        let own = lineage(std::process::id());
        assert_eq!(own.reach, LineageReach::Root);
        let pids: Vec<u32> = own.members.iter().map(|member| member.process.pid).collect();
        assert_eq!(pids.first(), Some(&std::process::id()));
        assert_eq!(pids.get(1).copied(), super::super::parent(std::process::id()));
        assert_eq!(own.members[1..], lineage(pids[1]).members[..]);
    }

    /// Returns a lookup of processes that each have the next id as their parent, up to `last`.
    fn chain(last: u32, parent_of_last: u32) -> impl Fn(u32) -> Option<Member> {
        move |pid| {
            let parent = if pid == last { parent_of_last } else { pid + 1 };
            let process = ProcessRef { pid, started: 7, boot: "boot".to_owned() };
            (pid <= last).then_some(Member { process, parent, session: 1 })
        }
    }

    #[test]
    fn ancestor_that_ended_meanwhile_is_not_hidden() {
        let reach = |is_hidden| walk(10, chain(12, 99), |_| is_hidden).map(|it| it.reach);
        assert_eq!(reach(true), Some(LineageReach::Hidden));
        assert_eq!(reach(false), None);
    }

    #[test]
    fn walks_to_different_hidden_parents_are_not_the_same() {
        let with = |parent| walk(10, chain(12, parent), |_| true);
        assert_eq!(with(99), with(99));
        assert_ne!(with(99), with(98));
    }

    #[test]
    fn process_that_appears_during_the_walk_is_not_hidden() {
        let reads = Cell::new(0);
        let later = |pid| {
            reads.set(reads.get() + 1);
            chain(if reads.get() > 4 { 99 } else { 12 }, 99)(pid)
        };
        assert_eq!(walk(10, later, |_| true), None);
    }

    #[test]
    fn own_process_and_missing_process_are_not_hidden() {
        assert!(!is_hidden(std::process::id()));
        assert!(!is_hidden(u32::MAX));
    }

    #[test]
    fn lineage_of_a_missing_process_is_unknown() {
        assert_eq!(
            lineage(u32::MAX),
            Lineage { members: Vec::new(), reach: LineageReach::Unknown }
        );
    }
}
