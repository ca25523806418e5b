//! Decides where a request comes from: a person, the agent of a launch, or an unidentified process.

use crate::error::Error;
use crate::model::{LaunchId, ProcessRef};

/// What the kernel shows about the process at the other end of a connection when the connection is
/// accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerEvidence {
    /// The process and its ancestors, nearest first.
    pub lineage: Vec<ProcessRef>,
    pub reach: LineageReach,
    /// The first sign that a launch started the process. The launch can belong to another
    /// `SEGUE_HOME`.
    pub sign: Option<LaunchSign>,
}

/// How far the ancestors of a process could be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineageReach {
    /// Up to the first process of the system.
    Root,
    /// Up to an ancestor that this user may not inspect.
    Hidden,
    /// The process has ended, or its ancestors change while they are read.
    Unknown,
}

/// A sign that a launch started a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchSign {
    /// It is in the cgroup of an agent.
    Cgroup,
    /// An environment variable of the process or of an ancestor names a launch.
    Mark,
    /// An ancestor is a holder, or looks like one.
    Holder,
    /// A daemon adopted the process from a holder that died.
    Orphan,
}

/// A launch that is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveLaunch {
    pub launch: LaunchId,
    pub holder: Option<ProcessRef>,
    /// Whether the agent is in a cgroup of its own.
    pub has_cgroup: bool,
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Person,
    Launch(LaunchId),
    Refused(CallerRefusal),
}

/// Why a caller gets no rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerRefusal {
    /// The caller ended before its connection was accepted, or its ancestors cannot be determined.
    Unidentified,
    /// The caller was started by a launch that has ended or whose holder is gone.
    DeadLaunch,
    /// An ancestor is hidden, and not every live agent is in a cgroup.
    HiddenAncestor,
}

impl CallerEvidence {
    /// Returns the evidence for a process that cannot be identified.
    pub fn unidentified() -> Self {
        Self { lineage: Vec::new(), reach: LineageReach::Unknown, sign: None }
    }

    /// Returns whether all ancestors are known and none of them belongs to a launch.
    pub fn is_of_a_person(&self) -> bool {
        self.reach == LineageReach::Root && self.sign.is_none()
    }
}

/// Decides where a request comes from. A caller gets the rights of a launch only if the live holder
/// of the launch is among its ancestors. Environments, command lines and cgroups can be forged, so
/// they can only take rights away.
pub fn origin(evidence: &CallerEvidence, live: &[LiveLaunch]) -> Origin {
    if evidence.reach == LineageReach::Unknown {
        return Origin::Refused(CallerRefusal::Unidentified);
    }
    let launch_of = |it: &ProcessRef| live.iter().find(|live| live.holder.as_ref() == Some(it));
    // Use the outermost holder: an agent can start any process below its own, even another holder.
    if let Some(found) = evidence.lineage.iter().rev().find_map(launch_of) {
        return Origin::Launch(found.launch);
    }
    if evidence.sign.is_some() {
        return Origin::Refused(CallerRefusal::DeadLaunch);
    }
    if evidence.reach == LineageReach::Hidden && !live.iter().all(|it| it.has_cgroup) {
        return Origin::Refused(CallerRefusal::HiddenAncestor);
    }
    Origin::Person
}

impl From<CallerRefusal> for Error {
    fn from(refusal: CallerRefusal) -> Self {
        match refusal {
            CallerRefusal::Unidentified => Self::usage("the calling process cannot be identified")
                .caused_by("it ended before its connection was accepted, or its parents change")
                .hint("run the command again, in a terminal of your own"),
            CallerRefusal::DeadLaunch => {
                Self::usage("an agent whose launch is over may not use Segue")
                    .hint("run the command in a terminal of your own")
            }
            CallerRefusal::HiddenAncestor => {
                Self::usage("the calling process cannot be told from an agent's")
                    .caused_by("`/proc` hides one of its ancestors (mount option `hidepid`)")
                    .hint("run `segue doctor` for what is missing; docs/security.md explains it")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn process(pid: u32) -> ProcessRef {
        ProcessRef { pid, started: 7, boot: "boot".to_owned() }
    }

    fn launch(number: u128) -> LaunchId {
        LaunchId::new(Uuid::from_u128(number))
    }

    fn live(number: u128, holder: u32, has_cgroup: bool) -> LiveLaunch {
        LiveLaunch { launch: launch(number), holder: Some(process(holder)), has_cgroup }
    }

    fn evidence(pids: &[u32], reach: LineageReach, sign: Option<LaunchSign>) -> CallerEvidence {
        CallerEvidence { lineage: pids.iter().copied().map(process).collect(), reach, sign }
    }

    #[test]
    fn only_a_complete_lineage_without_a_trace_is_a_person() {
        use CallerRefusal::{DeadLaunch, HiddenAncestor, Unidentified};
        use LineageReach::{Hidden, Root, Unknown};
        let holders = [live(1, 50, true), live(2, 60, false)];
        let in_cgroups = [live(1, 50, true)];
        let table = [
            (evidence(&[9, 8, 1], Root, None), Origin::Person),
            (evidence(&[9, 50, 1], Root, Some(LaunchSign::Holder)), Origin::Launch(launch(1))),
            (evidence(&[9, 50, 1], Root, None), Origin::Launch(launch(1))),
            (evidence(&[9, 60, 50, 1], Root, Some(LaunchSign::Mark)), Origin::Launch(launch(1))),
            (evidence(&[9, 50], Hidden, None), Origin::Launch(launch(1))),
            (evidence(&[9, 50, 1], Unknown, None), Origin::Refused(Unidentified)),
            (evidence(&[], Unknown, None), Origin::Refused(Unidentified)),
            (evidence(&[9, 1], Root, Some(LaunchSign::Cgroup)), Origin::Refused(DeadLaunch)),
            (evidence(&[9, 1], Root, Some(LaunchSign::Mark)), Origin::Refused(DeadLaunch)),
            (evidence(&[9, 8, 1], Root, Some(LaunchSign::Orphan)), Origin::Refused(DeadLaunch)),
            (evidence(&[9, 8, 1], Root, Some(LaunchSign::Holder)), Origin::Refused(DeadLaunch)),
            (evidence(&[9, 8], Hidden, None), Origin::Refused(HiddenAncestor)),
        ];
        for (evidence, expected) in table {
            assert_eq!(origin(&evidence, &holders), expected, "{evidence:?}");
        }
        assert_eq!(origin(&evidence(&[9, 8], Hidden, None), &in_cgroups), Origin::Person);
        assert_eq!(origin(&evidence(&[9, 8], Hidden, None), &[]), Origin::Person);
    }

    #[test]
    fn reused_pid_of_a_dead_holder_gives_no_rights() {
        let another = ProcessRef { started: 8, ..process(50) };
        let mut evidence = evidence(&[9], LineageReach::Root, Some(LaunchSign::Holder));
        evidence.lineage.push(another);
        let expected = Origin::Refused(CallerRefusal::DeadLaunch);
        assert_eq!(origin(&evidence, &[live(1, 50, true)]), expected);
    }
}
