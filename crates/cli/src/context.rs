//! The context that every command gets: its environment, its output and the current time.

use std::cell::Cell;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::Kind;
use segue_core::api::Caller;
use segue_server::wiring::{self, Local};

use crate::output::{Output, OutputFormat};
use crate::render::sessions::DisplayContext;
use crate::render::time::DisplayClock;

/// The environment that this command runs in, and the output that it writes to.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) local: Local,
    pub(crate) output: Output,
    home: Option<PathBuf>,
    now: Timestamp,
    clock: DisplayClock,
    is_interrupted: Cell<bool>,
}

/// How a command ended that returned no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandEnding {
    Done,
    /// The printed answer already reports the failure. Only the exit status has to be set.
    Reported(Kind),
}

impl Context {
    pub(crate) fn new(local: Local, format: OutputFormat) -> Self {
        let environment = local.environment();
        let home = environment.get("HOME").map(PathBuf::from);
        let output = Output::new(format, environment);
        let clock =
            if io::stdout().is_terminal() { DisplayClock::local() } else { DisplayClock::utc() };
        let is_interrupted = Cell::new(false);
        Self { local, output, home, now: wiring::now(), clock, is_interrupted }
    }

    /// Returns the caller for a request: working directory and environment. Prints a note about
    /// environment variables that are not UTF-8, because agents do not get them.
    pub(crate) fn caller(&self) -> Caller {
        let left_out = self.local.left_out();
        if !left_out.is_empty() {
            let names = left_out.join(", ");
            self.output.note(&format!(
                "agents do not get these environment variables, which are not UTF-8: {names}"
            ));
        }
        self.local.caller()
    }

    pub(crate) fn cwd(&self) -> &Path {
        self.local.cwd()
    }

    /// Returns the time zone for timestamps: the local one if standard output is a terminal, else
    /// UTC.
    pub(crate) fn clock(&self) -> &DisplayClock {
        &self.clock
    }

    pub(crate) fn wants_json(&self) -> bool {
        self.output.format() == OutputFormat::Json
    }

    /// Records that the user has interrupted this command with Ctrl-C.
    pub(crate) fn interrupt(&self) {
        self.is_interrupted.set(true);
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted.get()
    }

    pub(crate) fn display(&self) -> DisplayContext<'_> {
        DisplayContext { now: self.now, home: self.home.as_deref() }
    }

    /// Like [`Self::display`], but with the current time instead of the time at which the
    /// command began. For commands that run for a long time.
    pub(crate) fn display_now(&self) -> DisplayContext<'_> {
        DisplayContext { now: wiring::now(), ..self.display() }
    }
}

impl CommandEnding {
    /// Returns the ending of a command whose printed answer has failures of this kind, if any.
    pub(crate) fn of_answer(has_failures: bool, kind: Kind) -> Self {
        if has_failures { Self::Reported(kind) } else { Self::Done }
    }

    pub(crate) fn exit_status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Reported(kind) => kind.exit_status(),
        }
    }
}
