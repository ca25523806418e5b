//! Ends the processes that killed holders leave behind. This is for agents without a cgroup.
//!
//! A holder is a subreaper, so all descendants of its agent stay below it. If the holder is killed,
//! its descendants become children of the next subreaper above it: the daemon that started it. The
//! daemon recognizes them by their session (`setsid`). A holder leaves the daemon's session before
//! it starts any process, and no process can join an existing session. Processes that the daemon
//! starts for itself stay in the daemon's session, or are recorded as `OwnProcess`.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, getsid, set_child_subreaper, waitpid};
use segue_core::model::{LaunchId, ProcessRef};
use segue_core::{Error, Result};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

use crate::leftovers;
use crate::process::{self, OwnChild, ProcessHandle};

/// How long the kernel may take to end a killed process.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of passes. No process can escape that many passes by forking.
const MAX_PASSES: usize = 100;
/// Processes with the mark of a launch are left alone for this time, because the regular end of the
/// launch also ends them. The time is limited, because an agent can add and remove the mark itself.
const MARKED_GRACE: Duration = Duration::from_secs(2);
/// This many consecutive checks must find no process. A single check can miss a process that forks
/// and exits all the time.
const EMPTY_CHECKS: usize = 10;
/// A zombie that is older counts as adopted. The code that started a child collects its exit status
/// within this time.
const ZOMBIE_AGE: Duration = Duration::from_secs(60);

/// The holders that this process started and that were alive at the last check.
static HOLDERS: Mutex<Vec<StartedHolder>> = Mutex::new(Vec::new());

/// Other processes that this process started and that leave its session.
static OWN: Mutex<Vec<ProcessRef>> = Mutex::new(Vec::new());

/// A process that this process started and did not adopt. The code that started it ends it, collects
/// its exit status, and keeps this value until then.
#[derive(Debug)]
pub(crate) struct OwnProcess(ProcessRef);

impl OwnProcess {
    /// Starts a child and records it before it can leave the session of this process: a check for
    /// adopted processes waits until the child is recorded.
    pub(crate) fn start(command: &mut Command) -> io::Result<(Child, Option<Self>)> {
        let mut own = own();
        let child = command.spawn()?;
        // The child may have exited already. If it were not recorded, its exit status would be
        // collected as that of an adopted process.
        let process = child.id().and_then(process::find_child);
        own.extend(process.clone());
        drop(own);
        Ok((child, process.map(Self)))
    }
}

impl Drop for OwnProcess {
    fn drop(&mut self) {
        own().retain(|process| *process != self.0);
    }
}

fn own() -> MutexGuard<'static, Vec<ProcessRef>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A holder that this process started.
#[derive(Clone, Debug)]
struct StartedHolder {
    process: ProcessRef,
    launch: LaunchId,
}

/// A holder that has exited. This process may have adopted its descendants.
#[derive(Debug)]
struct LostHolder {
    holder: StartedHolder,
    missed_at: Instant,
}

/// Whether processes of killed holders still have to be ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remaining {
    Nothing,
    Something,
}

fn holders() -> MutexGuard<'static, Vec<StartedHolder>> {
    HOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records that a child is the holder of a launch. The child must not have left this process's
/// session yet.
pub(crate) fn expect_holder(pid: u32, launch: LaunchId) {
    holders().extend(process::find(pid).map(|process| StartedHolder { process, launch }));
}

/// Returns whether this process started a holder with this process id that is still alive.
pub(crate) fn is_started_holder(pid: u32) -> bool {
    let started = holders().iter().find(|it| it.process.pid == pid).cloned();
    started.is_some_and(|it| process::is_alive(&it.process))
}

/// Makes this process adopt the descendants of holders that are killed.
pub fn adopt() -> Result<()> {
    set_child_subreaper(Some(getpid()))
        .map_err(|error| Error::internal("cannot adopt processes of holders").caused_by(error))
}

/// Ends the descendants of each killed holder, until the future is dropped.
pub async fn end_adopted() -> Result<()> {
    let failed = |error| Error::internal("cannot receive signals").caused_by(error);
    let mut child_ended = signal(SignalKind::child()).map_err(failed)?;
    let mut zombies = HashMap::new();
    let mut lost: Vec<LostHolder> = Vec::new();
    loop {
        tokio::select! {
            signal = child_ended.recv() => if signal.is_none() { return Ok(()) },
            () = sleep(MARKED_GRACE), if !lost.is_empty() => {}
        }
        let missed_at = Instant::now();
        lost.extend(take_lost_holders().map(|holder| LostHolder { holder, missed_at }));
        if !lost.is_empty() && end_left_by(&lost).await == Remaining::Nothing {
            lost.clear();
        }
        take_statuses(&mut zombies);
    }
}

/// Removes the holders that have exited from the list, and returns them.
fn take_lost_holders() -> impl Iterator<Item = StartedHolder> {
    let lost: Vec<StartedHolder> =
        holders().extract_if(.., |holder| !process::is_alive(&holder.process)).collect();
    lost.into_iter()
}

/// Ends every adopted process that is not older than the oldest of these holders, and its
/// descendants. Processes with the mark of their launch are left alone at first, because the regular
/// end of the launch ends and reports them. When they end, this process adopts their children.
async fn end_left_by(lost: &[LostHolder]) -> Remaining {
    let since = lost.iter().map(|it| it.holder.process.started).min().unwrap_or_default();
    let is_left_alone = |child: &ProcessRef| {
        let is_recent = |it: &LostHolder| it.missed_at.elapsed() < MARKED_GRACE;
        leftovers::mark(child.pid)
            .is_some_and(|mark| lost.iter().any(|it| it.holder.launch == mark && is_recent(it)))
    };
    let mut empty_checks = 0;
    for _ in 0..MAX_PASSES {
        let found = adopted().filter(|child| child.is_alive && child.process.started >= since);
        let (left_alone, others): (Vec<ProcessRef>, Vec<ProcessRef>) =
            found.map(|child| child.process).partition(is_left_alone);
        empty_checks = if others.is_empty() { empty_checks + 1 } else { 0 };
        if empty_checks == EMPTY_CHECKS {
            let is_done = left_alone.is_empty();
            return if is_done { Remaining::Nothing } else { Remaining::Something };
        }
        for child in &others {
            tracing::warn!(
                pid = child.pid,
                "killing a process of an agent whose holder was killed"
            );
            end(child).await;
        }
    }
    tracing::error!("the processes of an agent fork faster than they can be killed");
    Remaining::Something
}

/// Kills a process. This process then adopts its children, and the next pass finds them.
async fn end(child: &ProcessRef) {
    let Ok(Some(handle)) = ProcessHandle::open(child) else { return };
    match handle.signal(Signal::KILL) {
        Ok(_) => drop(handle.gone_within(KILL_TIMEOUT).await),
        Err(error) => tracing::error!(pid = child.pid, %error, "cannot end a process of an agent"),
    }
}

/// Returns the children that this process adopted, without the children that it started.
fn adopted() -> impl Iterator<Item = OwnChild> {
    let session = getsid(None).map_or(0, Pid::as_raw_pid);
    let children = process::own_children();
    // Read the list of holders after the children. A holder that is started meanwhile is in the list
    // before it leaves the session.
    let (holders, own) = (holders().clone(), own().clone());
    children
        .into_iter()
        .filter(move |child| child.session != session)
        .filter(move |child| !holders.iter().any(|holder| holder.process == child.process))
        .filter(move |child| !own.contains(&child.process))
}

/// Collects the exit statuses of adopted processes, which no other code collects.
fn take_statuses(zombies: &mut HashMap<ProcessRef, Instant>) {
    let now = Instant::now();
    let session = getsid(None).map_or(0, Pid::as_raw_pid);
    let ended: Vec<OwnChild> =
        process::own_children().into_iter().filter(|child| !child.is_alive).collect();
    zombies.retain(|process, _| ended.iter().any(|child| child.process == *process));
    for child in ended {
        let since = *zombies.entry(child.process.clone()).or_insert(now);
        let is_adopted = child.session != session && !own().contains(&child.process);
        if is_adopted || now.duration_since(since) > ZOMBIE_AGE {
            let pid = i32::try_from(child.process.pid).ok().and_then(Pid::from_raw);
            // The code that started the process may collect the status at the same time. In both
            // cases the zombie is gone.
            let _taken = pid.map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
        }
    }
}
