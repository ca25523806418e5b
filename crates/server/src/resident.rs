//! The daemon as a process: whether it runs, and how it is ended.

use std::time::Duration;

use rustix::process::Signal;
use segue_core::api::Health;
use segue_core::{Error, Result};
use segue_host::process::{self, ProcessHandle};
use segue_host::resident;

use crate::client::{Client, start_lock};
use crate::connection::Connection;
use crate::liveness::{self, Dialled};
use crate::wiring::Local;

/// How long a daemon may take to end once it was asked to: longer than it lets itself take.
const END: Duration = Duration::from_secs(10);

/// What there is of a daemon.
#[derive(Debug)]
pub enum Presence {
    Absent,
    /// It was asked to stop, and its process is still there.
    Stopping {
        pid: u32,
    },
    Running(Client),
}

/// What came of ending the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    WasNotRunning,
    Stopped,
    /// By SIGKILL.
    Killed,
}

impl Presence {
    /// Looks for the daemon. One that does not answer is an error that names its process.
    pub async fn find(local: &Local) -> Result<Self> {
        let found = Self::at_socket(local).await?;
        if matches!(found, Self::Absent) && !is_starting(local) {
            // The socket goes before the process does.
            let holder = resident::lock_holder(&local.paths().daemon_lock());
            return Ok(holder.map_or(found, |pid| Self::Stopping { pid }));
        }
        Ok(found)
    }

    /// Looks for a daemon that listens. One that hangs up before it has answered is none.
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

/// Tells whether a command starts a daemon right now: that daemon has the lock before its socket.
fn is_starting(local: &Local) -> bool {
    resident::lock_holder(&local.paths().start_lock()).is_some()
}

/// Asks the daemon to end, and waits until its process is gone; agents are not harmed.
pub async fn stop(local: &Local) -> Result<Ended> {
    if is_starting(local) {
        // One that is being started cannot be asked yet.
        drop(start_lock(local).await?);
    }
    match Presence::find(local).await? {
        Presence::Absent => Ok(Ended::WasNotRunning),
        Presence::Stopping { pid } => match open(pid)? {
            Some(handle) => gone(pid, &handle).await,
            None => Ok(Ended::Stopped),
        },
        Presence::Running(client) => {
            client.shut_down().await?;
            Ok(Ended::Stopped)
        }
    }
}

/// Ends the daemon's process with SIGKILL, without asking it anything. The store is whole at every
/// moment, and agents are not harmed.
pub async fn kill(local: &Local) -> Result<Ended> {
    if local.is_inside_agent() {
        return Err(Error::usage("an agent may not end the daemon")
            .hint("run `segue daemon stop --force` in a terminal of your own"));
    }
    let (socket, lock) = (local.paths().daemon_socket(), local.paths().daemon_lock());
    let listener = async || match liveness::dial(&socket, &lock).await {
        Ok(dialled) => dialled.and_then(|dialled| dialled.resident.pid()),
        Err(_) => None,
    };
    let pid = match resident::lock_holder(&lock) {
        Some(pid) => Some(pid),
        // Where the kernel does not list locks.
        None => listener().await,
    };
    let Some(pid) = pid else { return Ok(Ended::WasNotRunning) };
    let Some(handle) = open(pid)? else { return Ok(Ended::WasNotRunning) };
    let failed = |error| Error::unavailable(cannot_end(pid)).caused_by(error);
    handle.signal(Signal::KILL).map_err(failed)?;
    gone(pid, &handle).await.map(|_| Ended::Killed)
}

/// Takes hold of the daemon's process; `None` if it is gone.
pub(crate) fn open(pid: u32) -> Result<Option<ProcessHandle>> {
    let Some(process) = process::find(pid) else { return Ok(None) };
    ProcessHandle::open(&process).map_err(|error| {
        Error::unavailable(format!("the daemon's process {pid} cannot be followed"))
            .caused_by(error)
    })
}

/// Waits for the end of a daemon that was told to end.
pub(crate) async fn gone(pid: u32, handle: &ProcessHandle) -> Result<Ended> {
    if handle.gone_within(END).await.unwrap_or(false) {
        return Ok(Ended::Stopped);
    }
    let limit = END.as_secs();
    let error = Error::unavailable(cannot_end(pid)).caused_by(format!("not within {limit} s"));
    Err(match resident::condition(pid) {
        resident::Condition::Stopped => {
            error.hint(format!("run `kill -CONT {pid}` to let it go on"))
        }
        _ => error,
    }
    .hint("run `segue daemon stop --force` to kill it: agents go on"))
}

fn cannot_end(pid: u32) -> String {
    format!("the daemon (process {pid}) does not end")
}
