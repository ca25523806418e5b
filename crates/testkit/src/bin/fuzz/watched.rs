//! Runs cases in a child process and waits for it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The time limit for one case. Even a slow machine needs less, so a case that takes longer hangs.
const CASE_TIME_LIMIT: Duration = Duration::from_secs(30);

/// How the child process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Well,
    /// The time limit of `wait` was reached, and the process was killed.
    Stopped,
    Failed(String),
}

/// A child process that runs this program.
pub(crate) struct WatchedChild {
    child: Child,
    lines: Receiver<String>,
    errors: thread::JoinHandle<String>,
    /// The number of the last case that the child process has started.
    pub(crate) last: Option<u64>,
}

impl WatchedChild {
    pub(crate) fn start(arguments: &[String]) -> Self {
        let program = std::env::current_exe().expect("this program");
        let mut command = Command::new(program);
        command.args(arguments).env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut errors = child.stderr.take().expect("its errors");
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            // The send fails if the receiver was dropped. The remaining lines are not needed then.
            let _sent = output.lines().map_while(Result::ok).try_for_each(|it| sender.send(it));
        });
        let errors = thread::spawn(move || {
            let mut text = Vec::new();
            let _read = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Self { child, lines, errors, last: None }
    }

    /// Waits until the child process exits, or until the time `until`. After that time, the current
    /// case still gets its full time limit, because otherwise a case that hangs would not be
    /// noticed. The child process is killed when that case has ended.
    pub(crate) fn wait(&mut self, until: Instant) -> End {
        loop {
            match self.lines.recv_timeout(CASE_TIME_LIMIT) {
                Ok(line) => self.last = line.parse().ok().or(self.last),
                Err(RecvTimeoutError::Disconnected) => return self.ended(),
                Err(RecvTimeoutError::Timeout) => {
                    self.end();
                    return End::Failed("it hangs".to_owned());
                }
            }
            if Instant::now() >= until {
                self.end();
                return End::Stopped;
            }
        }
    }

    fn end(&mut self) {
        // Killing fails if the child process has already exited.
        let _ended = self.child.kill();
        self.child.wait().expect("a child");
    }

    fn ended(&mut self) -> End {
        let status = self.child.wait().expect("a child");
        if status.success() {
            return End::Well;
        }
        let errors = std::mem::replace(&mut self.errors, thread::spawn(String::new));
        let output = errors.join().unwrap_or_default();
        End::Failed(format!("{status}: {}", output.trim()))
    }
}
