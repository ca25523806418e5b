//! A process that tries cases, and whoever waits for it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// No case takes as long as this, on any machine.
const LONGEST: Duration = Duration::from_secs(30);

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Well,
    /// The time for all of it is over.
    Stopped,
    Failed(String),
}

/// A run of this program.
pub(crate) struct Watched {
    child: Child,
    lines: Receiver<String>,
    errors: thread::JoinHandle<String>,
    /// The case that it said last.
    pub(crate) last: Option<u64>,
}

impl Watched {
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
            // Nobody listens to one that was ended.
            let _told = output.lines().map_while(Result::ok).try_for_each(|it| sender.send(it));
        });
        let errors = thread::spawn(move || {
            let mut text = Vec::new();
            let _read = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Self { child, lines, errors, last: None }
    }

    /// Waits for its end. Behind this time no further case is begun, and the one that has begun has
    /// the time that every one has: else one that never ends would never be found out.
    pub(crate) fn wait(&mut self, until: Instant) -> End {
        loop {
            match self.lines.recv_timeout(LONGEST) {
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
        // It may have ended by itself.
        let _ended = self.child.kill();
        self.child.wait().expect("a child");
    }

    fn ended(&mut self) -> End {
        let status = self.child.wait().expect("a child");
        if status.success() {
            return End::Well;
        }
        let errors = std::mem::replace(&mut self.errors, thread::spawn(String::new));
        let said = errors.join().unwrap_or_default();
        End::Failed(format!("{status}: {}", said.trim()))
    }
}
