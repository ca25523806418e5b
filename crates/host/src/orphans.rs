//! Ends the processes that killed holders leave behind. This is for agents without a cgroup.
//!
//! A holder is a subreaper, so all descendants of its agent stay below it. If it is killed, the
//! kernel gives its descendants to the next subreaper above it: the daemon that started it. The
//! daemon recognizes them by their session (`setsid`): a holder leaves the daemon's session before
//! it does anything else, and no process can join an existing session. Processes that the daemon
//! starts for itself stay in the daemon's session, or are recorded as `OwnProcess`.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, getsid, set_child_subreaper, waitpid};
use segue_core::model::{LaunchId, ProcessRef};
use segue_core::{Error, Result};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

use crate::leftovers;
use crate::process::{self, OwnChild, ProcessHandle};

/// How long the kernel may take to end a killed process.
const KILL_LIMIT: Duration = Duration::from_secs(10);
/// Maximum number of passes. No process can escape that many by forking.
const PASSES: usize = 100;
/// How long processes with the mark of a launch are left to the regular end of that launch. There
/// is a limit, because an agent can add and remove the mark itself.
const LEFT_TO_ITS_LAUNCH: Duration = Duration::from_secs(2);
/// How many consecutive checks must find no process. A single check can miss a process that forks
/// and exits all the time.
const EMPTY_LOOKS: usize = 10;
/// The age at which a zombie counts as adopted. The code that started a child collects its exit
/// status within this time.
const STATUS_TAKEN: Duration = Duration::from_secs(60);

/// The holders that this process started and that were alive at the last check.
static HOLDERS: Mutex<Vec<StartedHolder>> = Mutex::new(Vec::new());

/// Other processes that this process started and that leave its session.
static OWN: Mutex<Vec<ProcessRef>> = Mutex::new(Vec::new());

/// A process that this process started, as opposed to one that it adopted. The code that started it
/// ends it and collects its exit status, and keeps this value until then.
#[derive(Debug)]
pub(crate) struct OwnProcess(ProcessRef);

impl OwnProcess {
    /// Records a child. `None` if it has ended already.
    pub(crate) fn expect(pid: u32) -> Option<Self> {
        let process = process::find(pid)?;
        own().push(process.clone());
        Some(Self(process))
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
        .map_err(|error| Error::internal("cannot adopt what holders leave behind").caused_by(error))
}

/// Ends the descendants of each killed holder, until the future is dropped.
pub async fn end_adopted() -> Result<()> {
    let failed = |error| Error::internal("cannot listen to signals").caused_by(error);
    let mut child_ended = signal(SignalKind::child()).map_err(failed)?;
    let mut zombies = HashMap::new();
    let mut lost: Vec<LostHolder> = Vec::new();
    loop {
        tokio::select! {
            signal = child_ended.recv() => if signal.is_none() { return Ok(()) },
            () = sleep(LEFT_TO_ITS_LAUNCH), if !lost.is_empty() => {}
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
/// descendants. Processes with the mark of their launch are first left to the regular end of that
/// launch, which reports them. When they end, this process adopts their children.
async fn end_left_by(lost: &[LostHolder]) -> Remaining {
    let since = lost.iter().map(|it| it.holder.process.started).min().unwrap_or_default();
    let is_left = |child: &ProcessRef| {
        let is_recent = |it: &LostHolder| it.missed_at.elapsed() < LEFT_TO_ITS_LAUNCH;
        leftovers::mark(child.pid)
            .is_some_and(|mark| lost.iter().any(|it| it.holder.launch == mark && is_recent(it)))
    };
    let mut empty_looks = 0;
    for _ in 0..PASSES {
        let found = adopted().filter(|child| child.is_alive && child.process.started >= since);
        let (left, others): (Vec<ProcessRef>, Vec<ProcessRef>) =
            found.map(|child| child.process).partition(is_left);
        empty_looks = if others.is_empty() { empty_looks + 1 } else { 0 };
        if empty_looks == EMPTY_LOOKS {
            return if left.is_empty() { Remaining::Nothing } else { Remaining::Something };
        }
        for child in &others {
            tracing::warn!(pid = child.pid, "ended a process of an agent whose holder was killed");
            end(child).await;
        }
    }
    tracing::error!("processes of an agent multiply faster than they can be ended");
    Remaining::Something
}

/// Kills a process. This process then adopts its children, and the next pass finds them.
async fn end(child: &ProcessRef) {
    let Ok(Some(handle)) = ProcessHandle::open(child) else { return };
    match handle.signal(Signal::KILL) {
        Ok(_) => drop(handle.gone_within(KILL_LIMIT).await),
        Err(error) => tracing::error!(pid = child.pid, %error, "cannot end a process of an agent"),
    }
}

/// Returns the children that this process adopted, as opposed to those that it started.
fn adopted() -> impl Iterator<Item = OwnChild> {
    let session = getsid(None).map_or(0, Pid::as_raw_pid);
    let children = process::own_children();
    // Read the list only now: a holder that is started meanwhile is in the list before it leaves
    // the session.
    let (holders, own) = (holders().clone(), own().clone());
    children
        .into_iter()
        .filter(move |child| child.session != session)
        .filter(move |child| !holders.iter().any(|holder| holder.process == child.process))
        .filter(move |child| !own.contains(&child.process))
}

/// Collects the exit statuses that no other code collects: those of adopted processes.
fn take_statuses(zombies: &mut HashMap<ProcessRef, Instant>) {
    let now = Instant::now();
    let session = getsid(None).map_or(0, Pid::as_raw_pid);
    let ended: Vec<OwnChild> =
        process::own_children().into_iter().filter(|child| !child.is_alive).collect();
    zombies.retain(|process, _| ended.iter().any(|child| child.process == *process));
    for child in ended {
        let since = *zombies.entry(child.process.clone()).or_insert(now);
        let is_adopted = child.session != session && !own().contains(&child.process);
        if is_adopted || now.duration_since(since) > STATUS_TAKEN {
            let pid = i32::try_from(child.process.pid).ok().and_then(Pid::from_raw);
            // The code that started the process may collect the status at the same time. Either way
            // the zombie is gone.
            let _taken = pid.map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
        }
    }
}
