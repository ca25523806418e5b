//! Ends a launch whose holder does not answer, by signalling its processes.

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
const KILL_LIMIT: Duration = Duration::from_secs(10);
/// How many consecutive checks must find no process. A single check can miss a process that forks
/// and exits all the time.
const EMPTY_LOOKS: usize = 10;

/// Continues a stopped holder. Returns whether the holder was there.
pub(super) fn let_go_on(holder: &ProcessRef) -> Result<bool> {
    match open(holder)? {
        Some(handle) => handle.signal(Signal::CONT).map_err(failed),
        None => Ok(false),
    }
}

/// Continues a stopped process below a holder.
pub(super) fn let_go_on_below(holder: &ProcessRef, pid: u32) -> Result<()> {
    for process in hold(vec![pid], holder.pid)? {
        process.signal(Signal::CONT).map_err(failed)?;
    }
    Ok(())
}

/// Ends the agent, everything below the holder, and the holder itself. The agent gets SIGTERM first
/// and has `grace` to exit by itself. Returns the end that is on disk.
pub(super) async fn end(
    folder: &Path,
    launch: LaunchId,
    holder: &ProcessRef,
    grace: Duration,
) -> Result<LaunchEnd> {
    if let Some(handle) = open(holder)? {
        ask(holder.pid, grace).await?;
        kill_below(holder.pid).await?;
        handle.signal(Signal::KILL).map_err(failed)?;
        if !handle.gone_within(KILL_LIMIT).await.map_err(failed)? {
            return Err(does_not_end(holder.pid));
        }
    }
    leftovers::end_marked(&[launch]).await?;
    // A holder that still works may have recorded the end of its agent as a crash, because it did
    // not know of the request. The session would then be restarted, so set `asked` here.
    let unknown = LaunchEnd { exit: Exit::Unknown, asked: false, at: jiff::Timestamp::now() };
    let end = LaunchEnd { asked: true, ..order::read_end(folder).unwrap_or(unknown) };
    order::write_end(folder, &end)?;
    Ok(end)
}

/// Sends the agent SIGTERM, and waits at most `grace` until it exits.
async fn ask(holder: u32, grace: Duration) -> Result<()> {
    let agents: Vec<ProcessHandle> = hold(process::children(holder), holder)?;
    for agent in &agents {
        // A stopped process cannot exit before it is continued.
        for signal in [Signal::TERM, Signal::CONT] {
            agent.signal(signal).map_err(failed)?;
        }
    }
    wait(&agents, grace).await.map(drop)
}

/// Kills everything below a holder. Orphans become children of the holder, even while it is
/// stopped.
async fn kill_below(holder: u32) -> Result<()> {
    let deadline = Instant::now() + KILL_LIMIT;
    let mut empty_looks = 0;
    while Instant::now() < deadline {
        let found = process::descendants(holder);
        empty_looks = if found.is_empty() { empty_looks + 1 } else { 0 };
        if empty_looks == EMPTY_LOOKS {
            return Ok(());
        }
        let below = hold(found, holder)?;
        // If all processes exited before their handles were opened, nothing below waits. So yield
        // to other tasks here.
        tokio::task::yield_now().await;
        for process in &below {
            process.signal(Signal::KILL).map_err(failed)?;
        }
        if !wait(&below, KILL_LIMIT).await? {
            return Err(does_not_end(holder));
        }
    }
    Err(Error::unavailable("processes of an agent multiply faster than they can be ended"))
}

/// Opens handles of the processes that still descend from the holder. This is checked after
/// opening, so that no other process can be hit.
fn hold(pids: Vec<u32>, holder: u32) -> Result<Vec<ProcessHandle>> {
    let mut held = Vec::new();
    for process in pids.into_iter().filter_map(process::find) {
        let handle = open(&process)?;
        held.extend(handle.filter(|_| process::lineage(process.pid).has(holder)));
    }
    Ok(held)
}

/// Waits for all of these processes together. Returns whether all have exited.
async fn wait(processes: &[ProcessHandle], limit: Duration) -> Result<bool> {
    let deadline = Instant::now() + limit;
    for process in processes {
        let left = deadline.saturating_duration_since(Instant::now());
        if !process.gone_within(left).await.map_err(failed)? {
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
    Error::unavailable("processes of an agent do not end, although killed")
        .hint(format!("see what they wait for: `ps -o pid,stat,wchan,args --ppid {holder}`"))
}
