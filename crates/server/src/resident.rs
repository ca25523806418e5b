//! Finds and ends the process of the daemon.

use std::time::Duration;

use rustix::process::Signal;
use segue_core::api::Health;
use segue_core::{Error, Result};
use segue_host::daemon_process;
use segue_host::process::{self, ProcessHandle};

use crate::client::{Client, start_lock};
use crate::connection::Connection;
use crate::liveness::{self, Dialled};
use crate::wiring::Local;

/// How long a daemon may take to exit after it was asked to. The daemon's own limit is shorter.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether a daemon runs.
#[derive(Debug)]
pub enum Presence {
    Absent,
    /// The daemon was asked to stop, and its process still exists.
    Stopping {
        pid: u32,
    },
    Running(Client),
}

/// How the daemon was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DaemonEnd {
    WasNotRunning,
    Stopped,
    /// By SIGKILL.
    Killed,
}

impl Presence {
    /// Looks for the daemon. Fails if the daemon does not respond; the error names its process.
    pub async fn find(local: &Local) -> Result<Self> {
        let found = Self::at_socket(local).await?;
        if matches!(found, Self::Absent) && !is_starting(local) {
            // The socket disappears before the process does.
            let holder = daemon_process::lock_holder(&local.paths().daemon_lock());
            return Ok(holder.map_or(found, |pid| Self::Stopping { pid }));
        }
        Ok(found)
    }

    /// Looks for a daemon that listens. A daemon that closes the connection before it answers
    /// counts as absent.
    pub(crate) async fn at_socket(local: &Local) -> Result<Self> {
        let (socket, lock) = (local.paths().daemon_socket(), local.paths().daemon_lock());
        let Some(Dialled { stream, resident }) = liveness::dial(&socket, &lock).await? else {
            return Ok(Self::Absent);
        };
        let connection = Connection::open(stream, resident.clone()).await?;
        match resident.health(&connection).await {
            Ok(Health { ending: true, pid, .. }) => Ok(Self::Stopping { pid }),
            Ok(health) => Ok(Self::Running(Client::new(connection, health))),
            Err(_) if connection.is_broken().await => Ok(Self::Absent),
            Err(error) => Err(error),
        }
    }
}

/// Returns whether a command is starting a daemon. That daemon takes its lock before it has a
/// socket.
fn is_starting(local: &Local) -> bool {
    daemon_process::lock_holder(&local.paths().start_lock()).is_some()
}

/// Asks the daemon to stop, and waits until its process has ended. Agents continue.
pub async fn stop(local: &Local) -> Result<DaemonEnd> {
    if is_starting(local) {
        // A daemon that is still starting does not accept requests yet.
        drop(start_lock(local).await?);
    }
    match Presence::find(local).await? {
        Presence::Absent => Ok(DaemonEnd::WasNotRunning),
        Presence::Stopping { pid } => match open(pid)? {
            Some(handle) => wait_until_gone(pid, &handle).await,
            None => Ok(DaemonEnd::Stopped),
        },
        Presence::Running(client) => {
            client.shut_down().await?;
            Ok(DaemonEnd::Stopped)
        }
    }
}

/// Kills the daemon's process with SIGKILL, without a request to it. The store is consistent at any
/// time, and agents continue.
pub async fn kill(local: &Local) -> Result<DaemonEnd> {
    if local.is_inside_agent() {
        return Err(Error::usage("an agent may not end the daemon")
            .hint("run `segue daemon stop --force` in a terminal of your own"));
    }
    let (socket, lock) = (local.paths().daemon_socket(), local.paths().daemon_lock());
    let listener = async || match liveness::dial(&socket, &lock).await {
        Ok(dialled) => dialled.and_then(|dialled| dialled.resident.pid()),
        Err(_) => None,
    };
    let pid = match daemon_process::lock_holder(&lock) {
        Some(pid) => Some(pid),
        // Some kernels do not list locks.
        None => listener().await,
    };
    let Some(pid) = pid else { return Ok(DaemonEnd::WasNotRunning) };
    let Some(handle) = open(pid)? else { return Ok(DaemonEnd::WasNotRunning) };
    let failed = |error| Error::unavailable(cannot_end(pid)).caused_by(error);
    handle.signal(Signal::KILL).map_err(failed)?;
    wait_until_gone(pid, &handle).await.map(|_| DaemonEnd::Killed)
}

/// Opens a handle to the daemon's process. `None` if the process has ended.
pub(crate) fn open(pid: u32) -> Result<Option<ProcessHandle>> {
    let Some(process) = process::find(pid) else { return Ok(None) };
    ProcessHandle::open(&process).map_err(|error| {
        Error::unavailable(format!("cannot open a handle to the daemon's process {pid}"))
            .caused_by(error)
    })
}

/// Waits until a daemon that was asked to stop has ended. Fails after a timeout.
pub(crate) async fn wait_until_gone(pid: u32, handle: &ProcessHandle) -> Result<DaemonEnd> {
    if handle.gone_within(EXIT_TIMEOUT).await.unwrap_or(false) {
        return Ok(DaemonEnd::Stopped);
    }
    let limit = EXIT_TIMEOUT.as_secs();
    let error = Error::unavailable(cannot_end(pid)).caused_by(format!("not within {limit} s"));
    Err(match daemon_process::condition(pid) {
        daemon_process::Condition::Stopped => {
            error.hint(format!("run `kill -CONT {pid}` to let it go on"))
        }
        _ => error,
    }
    .hint("run `segue daemon stop --force` to kill it: agents go on"))
}

fn cannot_end(pid: u32) -> String {
    format!("the daemon (process {pid}) does not end")
}
