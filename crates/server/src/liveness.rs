//! Checks whether the daemon still responds. Without this check, a client would wait forever for a
//! daemon that is stopped or hangs.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use hyper::Method;
use segue_core::api::Health;
use segue_core::rules::origin::LineageReach;
use segue_core::{Error, Result};
use segue_host::daemon_process::{self, Condition};
use segue_host::peer::Peer;
use segue_host::socket;
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout};

use crate::connection::Connection;

/// How long the daemon may take to answer a health request.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// A busy daemon gets at most this many times [`ANSWER_TIMEOUT`], because on a loaded machine it
/// answers late.
const MAX_ANSWER_TIMEOUTS: usize = 6;

/// A daemon is busy if it runs or waits for a processor during at least 1/`BUSY_FRACTION` of the
/// time.
const BUSY_FRACTION: u32 = 10;

/// The timeout of a request that waits neither for agents nor for large files.
const QUICK_TIMEOUT: Duration = Duration::from_secs(60);

/// The longest pause between two health checks during a long request.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The daemon that a client is connected to: its socket, and the process that listens there.
#[derive(Clone, Debug)]
pub(crate) struct Resident {
    socket: PathBuf,
    pid: Option<u32>,
}

/// A connection to the daemon's socket.
pub(crate) struct Dialled {
    pub(crate) stream: UnixStream,
    pub(crate) resident: Resident,
}

/// Connects to the daemon's socket. `None` if no daemon listens there.
pub(crate) async fn dial(socket: &Path, lock: &Path) -> Result<Option<Dialled>> {
    use std::io::ErrorKind::{ConnectionRefused, NotFound, TimedOut};
    let resident = |pid| Resident { socket: socket.to_owned(), pid };
    match socket::connect_within(socket, ANSWER_TIMEOUT).await {
        Ok(stream) => {
            // The kernel reports the listening process, even if that process does not accept the
            // connection.
            let pid = stream.peer_cred().ok().and_then(|peer| u32::try_from(peer.pid()?).ok());
            let listener = Peer::of(&stream)?.evidence;
            match (listener.reach, listener.sign) {
                (_, Some(_)) => Err(foreign(socket, pid)),
                // The daemon has ended. Another process still has its socket open.
                (LineageReach::Unknown, None) => Ok(None),
                _ => Ok(Some(Dialled { stream, resident: resident(pid) })),
            }
        }
        Err(error) if matches!(error.kind(), NotFound | ConnectionRefused) => Ok(None),
        Err(error) if error.kind() == TimedOut => {
            Err(resident(daemon_process::lock_holder(lock)).silent())
        }
        Err(error) => Err(Error::unavailable("cannot reach the daemon").caused_by(error)),
    }
}

/// Returns the error for a listener that an agent started. Such a process could pretend to be the
/// daemon, and would get the environment of the caller.
fn foreign(socket: &Path, pid: Option<u32>) -> Error {
    let error = Error::unavailable(format!("no daemon listens at `{}`", socket.display()));
    match pid {
        Some(pid) => error
            .caused_by(format!("process {pid} listens there, which an agent started"))
            .hint(format!("run `kill {pid}` to end it, then run the command again")),
        None => error.caused_by("a process listens there that an agent started"),
    }
}

impl Resident {
    /// Returns the process that listens at the socket. `None` if the kernel does not report it.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Sends a health request on a connection. Fails if the daemon does not answer in time.
    pub(crate) async fn health(&self, connection: &Connection) -> Result<Health> {
        let mut answer = pin!(connection.ask_unwatched(Method::GET, "/v1/health", &()));
        for _ in 0..MAX_ANSWER_TIMEOUTS {
            let before = self.processor_demand();
            if let Ok(answer) = timeout(ANSWER_TIMEOUT, answer.as_mut()).await {
                return answer;
            }
            if self.processor_demand().saturating_sub(before) < ANSWER_TIMEOUT / BUSY_FRACTION {
                break;
            }
        }
        Err(self.silent())
    }

    /// Returns how long the daemon has run or waited for a processor since its start.
    fn processor_demand(&self) -> Duration {
        self.pid.and_then(daemon_process::processor_demand).unwrap_or_default()
    }

    /// Waits for the response to a request as long as the daemon answers health requests. A quick
    /// request has a timeout, too.
    pub(crate) async fn answered<T>(
        &self,
        path: &str,
        request: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let mut request = pin!(request);
        let limit = timeout_of(path);
        let began = Instant::now();
        let mut pause = ANSWER_TIMEOUT;
        loop {
            if let Ok(answer) = timeout(pause, request.as_mut()).await {
                return answer;
            }
            tokio::select! {
                answer = request.as_mut() => return answer,
                alive = self.check() => alive?,
            }
            if limit.is_some_and(|limit| began.elapsed() >= limit) {
                return Err(self.slow(path, began.elapsed()));
            }
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Fails if the daemon runs and does not answer on a new connection. Succeeds if the daemon has
    /// ended: that also closes the connection of the request that waits.
    pub(crate) async fn check(&self) -> Result<()> {
        let stream = match socket::connect_within(&self.socket, ANSWER_TIMEOUT).await {
            Ok(stream) => stream,
            Err(error) if error.kind() == std::io::ErrorKind::TimedOut => return Err(self.silent()),
            Err(_) => return Ok(()),
        };
        let connection = Connection::open(stream, self.clone()).await?;
        match self.health(&connection).await {
            Err(error) if !connection.is_broken().await => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the error for a daemon that does not answer health requests, with hints how to
    /// recover.
    fn silent(&self) -> Error {
        let Some(pid) = self.pid else {
            return Error::unavailable("the daemon does not answer")
                .caused_by(no_answer())
                .hint("run `segue daemon stop --force` to end it: agents go on");
        };
        let error = Error::unavailable(format!("the daemon (process {pid}) does not answer"));
        let error = match daemon_process::condition(pid) {
            Condition::Stopped => error
                .caused_by("the process is stopped, as by SIGSTOP")
                .hint(format!("run `kill -CONT {pid}` to let it go on")),
            Condition::Running | Condition::Gone => error.caused_by(no_answer()),
        };
        error.hint(
            "run `segue daemon stop --force` to end it: agents go on, and the next command starts \
             a new daemon",
        )
    }

    /// Returns the error for a daemon that answers health requests, but not this request.
    fn slow(&self, path: &str, after: Duration) -> Error {
        let process = self.pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        let seconds = after.as_secs();
        Error::unavailable(format!("the daemon{process} has not answered `{path}` for {seconds} s"))
            .hint("run `segue doctor` to see what is wrong")
            .hint("run `segue daemon stop`, then the command again: agents go on")
    }
}

fn no_answer() -> String {
    format!("no answer within {} s", ANSWER_TIMEOUT.as_secs())
}

/// Returns the timeout of a request. `None` if the request waits for agents or for large files.
fn timeout_of(path: &str) -> Option<Duration> {
    const QUICK_PATHS: [&str; 8] = [
        "/v1/sessions",
        "/v1/list",
        "/v1/attach",
        "/v1/messages",
        "/v1/cancel",
        "/v1/events",
        "/v1/shutdown",
        "/v1/usage",
    ];
    let path = path.split('?').next().unwrap_or_default();
    QUICK_PATHS.contains(&path).then_some(QUICK_TIMEOUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_that_do_not_wait_have_a_timeout() {
        for quick in ["/v1/sessions", "/v1/messages?cwd=%2F", "/v1/events?after=0"] {
            assert_eq!(timeout_of(quick), Some(QUICK_TIMEOUT), "{quick}");
        }
        for long in [
            "/v1/session?address=fox",
            "/v1/wait",
            "/v1/up",
            "/v1/sessions/x/turn",
            "/v1/events/follow?after=0",
        ] {
            assert_eq!(timeout_of(long), None, "{long}");
        }
    }
}
