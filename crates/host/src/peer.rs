//! Identifies the process that connected to a socket. This is done once per connection, with a
//! handle of the process (pidfd), because a process id can be reused.

use std::os::fd::OwnedFd;
use std::path::Path;

use nix::sys::socket::{getsockopt, sockopt};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use segue_core::rules::origin::{CallerEvidence, LaunchSign, LineageReach};
use segue_core::{Error, Result};
use tokio::net::UnixStream;

use crate::process::{self, Lineage, Member};
use crate::{cgroup, daemon, hold, leftovers, orphans};

/// The process at the other end of a connection, as it was when [`Peer::of`] was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    pub uid: u32,
    pub evidence: CallerEvidence,
}

impl Peer {
    /// Examines the process that connected. Call this right after the connection was accepted. A
    /// process that has exited by then is reported as unidentified, even if another process has its
    /// descriptors.
    pub fn of(stream: &UnixStream) -> Result<Self> {
        let failed = || Error::internal("cannot identify the process that connected");
        let credentials = stream.peer_cred().map_err(|error| failed().caused_by(error))?;
        let pid = credentials.pid().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0);
        let evidence = match pid.zip(pid.and_then(|pid| handle(stream, pid))) {
            Some((pid, handle)) => evidence_with(pid, &handle),
            // The process is in another PID namespace or has exited.
            None => CallerEvidence::unidentified(),
        };
        Ok(Self { uid: credentials.uid(), evidence })
    }
}

/// Returns a handle of the process that connected.
fn handle(stream: &UnixStream, pid: u32) -> Option<OwnedFd> {
    match getsockopt(stream, sockopt::PeerPidfd) {
        Ok(handle) => Some(handle),
        Err(nix::errno::Errno::ENOPROTOOPT) => handle_by_number(pid),
        Err(_) => None,
    }
}

/// Returns a handle of the process that has this id now. Kernels before 6.5 have no handle of the
/// process that connected.
fn handle_by_number(pid: u32) -> Option<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

fn evidence_with(pid: u32, handle: &OwnedFd) -> CallerEvidence {
    let found = evidence(pid);
    // If the process is still alive, its id was not reused during the examination.
    if has_ended(handle) { CallerEvidence::unidentified() } else { found }
}

fn has_ended(handle: &OwnedFd) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let ready = retry_on_intr(|| poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&now)));
    ready.map_or(true, |count| count > 0)
}

/// Collects the evidence of a process's origin. The caller makes sure that the process stays alive.
pub(crate) fn evidence(pid: u32) -> CallerEvidence {
    let Lineage { members, reach } = process::lineage(pid);
    if reach == LineageReach::Unknown {
        return CallerEvidence::unidentified();
    }
    let sign = launch_sign(&members).or_else(|| adopted(&members));
    CallerEvidence { lineage: members.into_iter().map(|it| it.process).collect(), reach, sign }
}

/// Finds a sign of a launch in a lineage. Environments are read last, because an agent can make
/// them long and can create many ancestors.
fn launch_sign(members: &[Member]) -> Option<LaunchSign> {
    let found = |sign: LaunchSign, has_sign: fn(u32) -> bool| {
        members.iter().any(|it| has_sign(it.process.pid)).then_some(sign)
    };
    found(LaunchSign::Cgroup, |pid| cgroup::launch_of(pid).is_some())
        .or_else(|| found(LaunchSign::Holder, has_command_of_holder))
        .or_else(|| found(LaunchSign::Mark, |pid| leftovers::mark(pid).is_some()))
}

fn has_command_of_holder(pid: u32) -> bool {
    hold::held_launch(&process::words(pid)).is_some()
}

/// The process that listens at the socket of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketOwner {
    /// The holder of the launch.
    Holder,
    /// Another process. An agent can replace a holder's socket by its own socket or by a symlink.
    Other,
    /// A process of another PID namespace, which cannot be examined.
    Outside,
}

impl SocketOwner {
    /// Examines the process that listens at the other end of a connection. `folder` is the folder
    /// of the launch whose holder is expected there.
    pub(crate) fn of(stream: &UnixStream, folder: &Path) -> Self {
        match listening_pid(stream) {
            Some(0) => Self::Outside,
            Some(pid) if hold::is_holder_of(pid, folder) && !is_agents_holder(pid) => Self::Holder,
            _ => Self::Other,
        }
    }
}

/// Returns whether the listener at the other end is in another PID namespace.
pub(crate) fn is_outside(stream: &UnixStream) -> bool {
    listening_pid(stream) == Some(0)
}

/// Returns the process id of the listener in this PID namespace. 0 if it is in another one.
fn listening_pid(stream: &UnixStream) -> Option<u32> {
    u32::try_from(stream.peer_cred().ok()?.pid()?).ok()
}

/// Finds a process that a daemon adopted when a holder died. Processes that a daemon starts for
/// itself stay in its session. A holder leaves that session before it starts any process, and no
/// process can join a session.
fn adopted(members: &[Member]) -> Option<LaunchSign> {
    let is_adopted = |pair: &[Member]| match pair {
        [child, parent] => {
            child.session != parent.session
                && daemon::is_daemon(&process::words(parent.process.pid))
        }
        _ => false,
    };
    members.windows(2).any(is_adopted).then_some(LaunchSign::Orphan)
}

/// Returns whether a process belongs to an agent of any launch, or cannot be distinguished from
/// one.
pub fn is_of_an_agent(pid: u32) -> bool {
    let evidence = evidence(pid);
    evidence.reach == LineageReach::Unknown || evidence.sign.is_some()
}

/// Returns whether the cgroup or the environment of a process shows that an agent started it.
pub(crate) fn is_marked(pid: u32) -> bool {
    cgroup::launch_of(pid).is_some() || leftovers::mark(pid).is_some()
}

/// Returns whether an agent started a holder. The ancestors of holders that this process started are
/// not examined.
fn is_agents_holder(pid: u32) -> bool {
    if orphans::is_started_holder(pid) {
        return false;
    }
    let Lineage { members, reach } = process::lineage(pid);
    let ancestors = members.get(1..).unwrap_or_default();
    reach == LineageReach::Unknown || is_marked(pid) || launch_sign(ancestors).is_some()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::LAUNCH_MARK;

    #[tokio::test]
    async fn peer_is_this_process_with_its_whole_lineage() {
        let (client, served) = UnixStream::pair().unwrap();
        let peer = Peer::of(&served).unwrap();
        assert_eq!(peer.uid, rustix::process::geteuid().as_raw());
        assert_eq!(peer.evidence.lineage.first(), process::find(std::process::id()).as_ref());
        assert_eq!(peer.evidence.reach, LineageReach::Root);
        drop(client);
    }

    #[test]
    fn handle_by_number_sees_the_end_of_the_process() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let handle = handle_by_number(child.id()).unwrap();
        assert!(!has_ended(&handle));
        assert_eq!(evidence_with(child.id(), &handle).reach, LineageReach::Root);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(has_ended(&handle));
        assert_eq!(evidence_with(child.id(), &handle), CallerEvidence::unidentified());
        assert!(handle_by_number(u32::MAX).is_none());
    }

    #[test]
    fn mark_in_an_environment_is_a_sign() {
        let launch = uuid::Uuid::new_v4().to_string();
        let mut command = Command::new("cat");
        command.env(LAUNCH_MARK, launch).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The child answers only after `exec`, when it is no longer a copy of this process.
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"x").unwrap();
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        assert_eq!(evidence(child.id()).sign, Some(LaunchSign::Mark));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
