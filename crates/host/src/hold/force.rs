//! Ends a launch whose holder does not answer, with signals to its processes.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use segue_core::model::{Exit, LaunchEnd, LaunchId, ProcessRef};
use segue_core::{Error, Result};
use tokio::time::Instant;

use super::order;
use crate::leftovers;
use crate::process::{self, ProcessHandle};

/// How long the kernel may take to end killed processes, and how long killing is repeated if they
/// keep forking.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);
/// This many consecutive checks must find no process. A single check can miss a process that forks
/// and exits all the time.
const EMPTY_CHECKS: usize = 10;

/// Resumes a stopped holder (SIGCONT). Returns whether the holder exists.
pub(super) fn resume(holder: &ProcessRef) -> Result<bool> {
    match open(holder)? {
        Some(handle) => handle.signal(Signal::CONT).map_err(failed),
        None => Ok(false),
    }
}

/// Resumes a stopped process below a holder (SIGCONT).
pub(super) fn resume_below(holder: &ProcessRef, pid: u32) -> Result<()> {
    for process in open_below(vec![pid], holder.pid)? {
        process.signal(Signal::CONT).map_err(failed)?;
    }
    Ok(())
}

/// Ends the agent, all processes below the holder, and the holder itself. The agent gets SIGTERM
/// first and has `grace` to exit by itself. Returns the recorded end.
pub(super) async fn end(
    folder: &Path,
    launch: LaunchId,
    holder: &ProcessRef,
    grace: Duration,
) -> Result<LaunchEnd> {
    if let Some(handle) = open(holder)? {
        terminate(holder.pid, grace).await?;
        kill_below(holder.pid).await?;
        handle.signal(Signal::KILL).map_err(failed)?;
        if !handle.gone_within(KILL_TIMEOUT).await.map_err(failed)? {
            return Err(does_not_end(holder.pid));
        }
    }
    leftovers::end_marked(&[launch]).await?;
    // The holder may have recorded the end of its agent as a crash, because it did not get the
    // request to stop. Then the session would be restarted. So set `is_requested` here.
    let unknown =
        LaunchEnd { exit: Exit::Unknown, is_requested: false, at: jiff::Timestamp::now() };
    let end = LaunchEnd { is_requested: true, ..order::read_end(folder).unwrap_or(unknown) };
    order::write_end(folder, &end)?;
    Ok(end)
}

/// Sends the agent SIGTERM, and waits at most `grace` until it exits.
async fn terminate(holder: u32, grace: Duration) -> Result<()> {
    let agents: Vec<ProcessHandle> = open_below(process::children(holder), holder)?;
    for agent in &agents {
        // A stopped process cannot exit before it is resumed.
        for signal in [Signal::TERM, Signal::CONT] {
            agent.signal(signal).map_err(failed)?;
        }
    }
    wait(&agents, grace).await.map(drop)
}

/// Kills all processes below a holder. Orphans become children of the holder, even while it is
/// stopped.
async fn kill_below(holder: u32) -> Result<()> {
    let deadline = Instant::now() + KILL_TIMEOUT;
    let mut empty_checks = 0;
    while Instant::now() < deadline {
        let found = process::descendants(holder);
        empty_checks = if found.is_empty() { empty_checks + 1 } else { 0 };
        if empty_checks == EMPTY_CHECKS {
            return Ok(());
        }
        let below = open_below(found, holder)?;
        // If no handle was opened, the loop waits for nothing. So yield to other tasks here.
        tokio::task::yield_now().await;
        for process in &below {
            process.signal(Signal::KILL).map_err(failed)?;
        }
        if !wait(&below, KILL_TIMEOUT).await? {
            return Err(does_not_end(holder));
        }
    }
    Err(Error::unavailable("the processes of an agent fork faster than they can be killed"))
}

/// Opens handles of the processes that descend from the holder. The descent is checked after the
/// handle was opened, so that no other process gets a signal.
fn open_below(pids: Vec<u32>, holder: u32) -> Result<Vec<ProcessHandle>> {
    let mut handles = Vec::new();
    for process in pids.into_iter().filter_map(process::find) {
        let handle = open(&process)?;
        handles.extend(handle.filter(|_| process::lineage(process.pid).has(holder)));
    }
    Ok(handles)
}

/// Waits for all of these processes together. Returns whether all have exited.
async fn wait(processes: &[ProcessHandle], limit: Duration) -> Result<bool> {
    let deadline = Instant::now() + limit;
    for process in processes {
        let remaining = deadline.saturating_duration_since(Instant::now());
        if !process.gone_within(remaining).await.map_err(failed)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn open(process: &ProcessRef) -> Result<Option<ProcessHandle>> {
    ProcessHandle::open(process).map_err(failed)
}

fn failed(error: std::io::Error) -> Error {
    Error::unavailable("cannot end an agent whose holder does not answer").caused_by(error)
}

fn does_not_end(holder: u32) -> Error {
    let command = format!("ps -o pid,stat,wchan,args --ppid {holder}");
    Error::unavailable("processes of an agent do not end after SIGKILL")
        .hint(format!("run `{command}` to see what they wait for"))
}
