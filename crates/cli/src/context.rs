//! What every command is given.

use std::cell::Cell;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::Kind;
use segue_core::api::Caller;
use segue_server::wiring::{self, Local};

use crate::output::{Format, Output};
use crate::render::sessions::Surroundings;
use crate::render::time::Clock;

/// The surroundings of this command, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) local: Local,
    pub(crate) output: Output,
    home: Option<PathBuf>,
    now: Timestamp,
    clock: Clock,
    is_interrupted: Cell<bool>,
}

/// How a command ended that did not fail outright.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Done,
    /// The answer itself says what is wrong; only the exit status is left to tell.
    Told(Kind),
}

impl Context {
    pub(crate) fn new(local: Local, format: Format) -> Self {
        let environment = local.environment();
        let home = environment.get("HOME").map(PathBuf::from);
        let output = Output::new(format, environment);
        let clock = if io::stdout().is_terminal() { Clock::local() } else { Clock::utc() };
        let is_interrupted = Cell::new(false);
        Self { local, output, home, now: wiring::now(), clock, is_interrupted }
    }

    /// Returns who asks; tells a person which variables no agent will get.
    pub(crate) fn caller(&self) -> Caller {
        let left_out = self.local.left_out();
        if !left_out.is_empty() {
            let names = left_out.join(", ");
            self.output.note(&format!("not passed on to agents, because it is not UTF-8: {names}"));
        }
        self.local.caller()
    }

    pub(crate) fn cwd(&self) -> &Path {
        self.local.cwd()
    }

    /// Returns how timestamps are shown: a person at a terminal reads local time.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn wants_json(&self) -> bool {
        self.output.format() == Format::Json
    }

    /// Records that its person has interrupted this command.
    pub(crate) fn interrupt(&self) {
        self.is_interrupted.set(true);
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted.get()
    }

    pub(crate) fn surroundings(&self) -> Surroundings<'_> {
        Surroundings { now: self.now, home: self.home.as_deref() }
    }

    /// Returns the surroundings of a command that runs for long, as they are now.
    pub(crate) fn surroundings_now(&self) -> Surroundings<'_> {
        Surroundings { now: wiring::now(), ..self.surroundings() }
    }
}

impl Ending {
    /// Returns the exit status.
    pub(crate) fn exit_status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Told(kind) => kind.exit_status(),
        }
    }
}
