//! A process and its ancestors, read so that no number can come to mean another process meanwhile.

use segue_core::model::ProcessRef;
use segue_core::rules::origin::Reach;

use super::boot;
use super::stat::Stat;

/// Deeper than any shell nests; whoever builds more than this is not followed.
const DEEPEST: usize = 1024;
/// More walks than the ancestors of an honest process change during.
const WALKS: usize = 20;
/// The first process, which never is an agent's. It may be hidden.
const INIT: u32 = 1;

/// A process among others of its lineage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) process: ProcessRef,
    /// The session (`setsid`) that it is in.
    pub(crate) session: i32,
}

/// A process and its ancestors, the nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lineage {
    pub(crate) members: Vec<Member>,
    pub(crate) reach: Reach,
}

impl Lineage {
    /// Tells whether a process is in the lineage.
    pub(crate) fn has(&self, pid: u32) -> bool {
        self.members.iter().any(|member| member.process.pid == pid)
    }
}

/// Follows the parents of a process. It is walked twice: if both walks see the same processes with
/// the same parents, each number meant the process that was the parent.
pub(crate) fn lineage(pid: u32) -> Lineage {
    let mut last = walk(pid);
    for _ in 0..WALKS {
        let again = walk(pid);
        if again == last {
            return last;
        }
        last = again;
    }
    Lineage { members: Vec::new(), reach: Reach::Unknown }
}

fn walk(pid: u32) -> Lineage {
    let mut members = Vec::new();
    let mut next = pid;
    let reach = loop {
        if members.len() == DEEPEST {
            break Reach::Unknown;
        }
        let Some((member, parent)) = look(next) else {
            break match next {
                _ if members.is_empty() => Reach::Unknown,
                INIT => Reach::Root,
                _ => Reach::Hidden,
            };
        };
        members.push(member);
        match parent {
            0 => break Reach::Root,
            parent => next = parent,
        }
    };
    Lineage { members, reach }
}

fn look(pid: u32) -> Option<(Member, u32)> {
    let Stat { parent, session, started, .. } = Stat::read(pid)?;
    let process = ProcessRef { pid, started, boot: boot()?.to_owned() };
    Some((Member { process, session }, parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lineage_reaches_the_first_process() {
        let own = lineage(std::process::id());
        assert_eq!(own.reach, Reach::Root);
        let pids: Vec<u32> = own.members.iter().map(|member| member.process.pid).collect();
        assert_eq!(pids.first(), Some(&std::process::id()));
        assert_eq!(pids.get(1).copied(), super::super::parent(std::process::id()));
        assert_eq!(own.members[1..], lineage(pids[1]).members[..]);
    }

    #[test]
    fn lineage_of_a_missing_process_is_unknown() {
        assert_eq!(lineage(u32::MAX), Lineage { members: Vec::new(), reach: Reach::Unknown });
    }
}
