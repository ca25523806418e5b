//! Whether the daemon still answers. A client that waits in silence for a process that is stopped
//! or hangs would wait for ever.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use hyper::Method;
use segue_core::api::Health;
use segue_core::rules::origin::Reach;
use segue_core::{Error, Result};
use segue_host::peer::Peer;
use segue_host::resident::{self, Condition};
use segue_host::socket;
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout};

use crate::connection::Connection;

/// How long the daemon may take to say that it is there.
pub(crate) const ANSWER: Duration = Duration::from_secs(5);

/// How often that time begins anew for a daemon that works, or would if it got a processor: on a
/// loaded machine it comes to its answer late.
const LATE_ANSWERS: usize = 6;

/// A daemon that runs or waits for a processor for at least this part of the time is not hung.
const BUSY_PART: u32 = 10;

/// How long a request may take that has nothing to wait for.
const QUICK: Duration = Duration::from_secs(60);

/// The longest time between two looks at a daemon that takes long over a request.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A daemon as its clients see it: the socket, and the process that listens there.
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

/// Connects to the daemon's socket; `None` if nobody listens there.
pub(crate) async fn dial(socket: &Path, lock: &Path) -> Result<Option<Dialled>> {
    use std::io::ErrorKind::{ConnectionRefused, NotFound, TimedOut};
    let resident = |pid| Resident { socket: socket.to_owned(), pid };
    match socket::connect_within(socket, ANSWER).await {
        Ok(stream) => {
            // The kernel names the process that listens, whether it takes the connection or not.
            let pid = stream.peer_cred().ok().and_then(|peer| u32::try_from(peer.pid()?).ok());
            let listener = Peer::of(&stream)?.evidence;
            match (listener.reach, listener.trace) {
                (_, Some(_)) => Err(foreign(socket, pid)),
                // It ended, whoever else has its socket.
                (Reach::Unknown, None) => Ok(None),
                _ => Ok(Some(Dialled { stream, resident: resident(pid) })),
            }
        }
        Err(error) if matches!(error.kind(), NotFound | ConnectionRefused) => Ok(None),
        Err(error) if error.kind() == TimedOut => {
            Err(resident(resident::lock_holder(lock)).silent())
        }
        Err(error) => Err(Error::unavailable("cannot reach the daemon").caused_by(error)),
    }
}

/// An agent's process in the daemon's place would be sent the environment of whoever calls.
fn foreign(socket: &Path, pid: Option<u32>) -> Error {
    let error = Error::unavailable(format!("no daemon listens at `{}`", socket.display()));
    match pid {
        Some(pid) => error
            .caused_by(format!("process {pid} listens there, which an agent started"))
            .hint(format!("end it: `kill {pid}`, then run the command again")),
        None => error.caused_by("a process listens there that an agent started"),
    }
}

impl Resident {
    /// Returns the process that listens at the socket, if the kernel names it.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Asks the daemon on a connection how it is, and waits only as long as that may take.
    pub(crate) async fn health(&self, connection: &Connection) -> Result<Health> {
        let mut answer = pin!(connection.ask_unwatched(Method::GET, "/v1/health", &()));
        for _ in 0..LATE_ANSWERS {
            let before = self.processor_demand();
            if let Ok(answer) = timeout(ANSWER, answer.as_mut()).await {
                return answer;
            }
            if self.processor_demand().saturating_sub(before) < ANSWER / BUSY_PART {
                break;
            }
        }
        Err(self.silent())
    }

    fn processor_demand(&self) -> Duration {
        self.pid.and_then(resident::processor_demand).unwrap_or_default()
    }

    /// Waits for the answer to a request, for as long as the daemon shows that it is alive, and for
    /// at most a minute if the request has nothing to wait for.
    pub(crate) async fn answered<T>(
        &self,
        path: &str,
        request: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let mut request = pin!(request);
        let limit = limit(path);
        let began = Instant::now();
        let mut pause = ANSWER;
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
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Fails if the daemon does not answer on a new connection. A daemon that is gone is no failure
    /// here: it closes the connection that the request is on.
    pub(crate) async fn check(&self) -> Result<()> {
        let stream = match socket::connect_within(&self.socket, ANSWER).await {
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

    /// Words that the daemon does not answer at all, with the way out.
    fn silent(&self) -> Error {
        let Some(pid) = self.pid else {
            return Error::unavailable("the daemon does not answer")
                .caused_by(no_answer())
                .hint("run `segue daemon stop --force` to end it: agents go on");
        };
        let error = Error::unavailable(format!("the daemon (process {pid}) does not answer"));
        let error = match resident::condition(pid) {
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

    /// Words that the daemon answers, but not to this request.
    fn slow(&self, path: &str, after: Duration) -> Error {
        let who = self.pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        let seconds = after.as_secs();
        Error::unavailable(format!("the daemon{who} has not answered `{path}` for {seconds} s"))
            .hint("run `segue doctor` to see what is wrong")
            .hint("run `segue daemon stop`, then the command again: agents go on")
    }
}

fn no_answer() -> String {
    format!("no answer within {} s", ANSWER.as_secs())
}

/// Returns how long a request may take; `None` if it waits for agents or for large files.
fn limit(path: &str) -> Option<Duration> {
    const QUICK_ONES: [&str; 6] =
        ["/v1/sessions", "/v1/attach", "/v1/messages", "/v1/cancel", "/v1/events", "/v1/shutdown"];
    let path = path.split('?').next().unwrap_or_default();
    QUICK_ONES.contains(&path).then_some(QUICK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_without_a_wait_have_a_limit() {
        for quick in ["/v1/sessions", "/v1/messages?cwd=%2F", "/v1/events?after=0"] {
            assert_eq!(limit(quick), Some(QUICK), "{quick}");
        }
        for long in [
            "/v1/session?address=fox",
            "/v1/wait",
            "/v1/up",
            "/v1/sessions/x/turn",
            "/v1/events/follow?after=0",
        ] {
            assert_eq!(limit(long), None, "{long}");
        }
    }
}
