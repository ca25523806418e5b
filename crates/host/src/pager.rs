//! Runs a pager: a program that shows a long text one screen at a time.

use std::io::{self, Write as _};
use std::os::fd::BorrowedFd;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::stdio::{stderr, stdout};
use rustix::termios::{isatty, tcgetwinsize};
use segue_core::model::Environment;
use segue_core::{Error, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The environment variables that name the user's pager. The first variable that is set is used.
const NAMES: [&str; 2] = ["SEGUE_PAGER", "PAGER"];

/// Options of pagers, for users who have set none: show colours, exit at once if the text fits on
/// the screen, and leave the screen as it is.
const DEFAULTS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];

/// The exit codes of a shell if the program is missing or cannot be run.
const NOT_RUN: [i32; 2] = [126, 127];

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub rows: usize,
    pub columns: usize,
}

impl Size {
    /// Returns the size of the terminal at standard output. `None` if that is not a terminal.
    pub fn of_output() -> Option<Self> {
        Self::of(stdout())
    }

    /// Returns the size of the terminal at standard error. `None` if that is not a terminal.
    pub fn of_errors() -> Option<Self> {
        Self::of(stderr())
    }

    fn of(terminal: BorrowedFd<'_>) -> Option<Self> {
        if !isatty(terminal) {
            return None;
        }
        let size = tcgetwinsize(terminal).ok();
        // Some terminals report no size. They get the usual size.
        let known = size.filter(|size| size.ws_row > 0 && size.ws_col > 0);
        let (rows, columns) = known.map_or((24, 80), |size| (size.ws_row, size.ws_col));
        Some(Self { rows: rows.into(), columns: columns.into() })
    }
}

/// A running pager. A write may block until the user scrolls on.
#[derive(Debug)]
pub struct Pager {
    child: Child,
    input: Option<ChildStdin>,
    name: String,
    /// Catches SIGINT. Ctrl-C is meant for the pager, and this process must outlive the pager.
    _interrupts: Option<Signal>,
}

impl Pager {
    /// Starts the user's pager, or `less`. Returns `None` if the user wants no pager (an empty
    /// value or `cat`) or if it cannot be spawned.
    pub fn start(environment: &Environment) -> Option<Self> {
        let chosen = NAMES.into_iter().find_map(|name| environment.get(name)).map(str::trim);
        let (name, mut command) = match chosen {
            Some("" | "cat") => return None,
            Some(chosen) => (chosen, Command::new("sh")),
            None => ("less", Command::new("less")),
        };
        match chosen {
            Some(chosen) => command.args(["-c", chosen]),
            None => command.arg("-FRX"),
        };
        let unset = DEFAULTS.into_iter().filter(|(name, _)| environment.get(name).is_none());
        let mut child = command.envs(unset).stdin(Stdio::piped()).spawn().ok()?;
        let input = child.stdin.take();
        let interrupts = signal(SignalKind::interrupt()).ok();
        Some(Self { child, input, name: name.to_owned(), _interrupts: interrupts })
    }

    /// Sends text to the pager. Returns a broken pipe error after the user has quit the pager.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.input {
            Some(input) => input.write_all(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Closes the input of the pager and waits until the user quits it. Fails if the shell could not
    /// run the pager.
    pub fn finish(mut self) -> Result<()> {
        drop(self.input.take());
        let status = self.child.wait();
        let not_run = |code| NOT_RUN.contains(&code);
        match status {
            Ok(status) if !status.code().is_some_and(not_run) => Ok(()),
            Ok(_) => Err(Error::config(format!("the pager `{}` cannot be run", self.name))
                .hint("set `SEGUE_PAGER` to another program, or use `--no-pager`")),
            Err(error) => Err(Error::internal("cannot wait for the pager").caused_by(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment::new(pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())))
    }

    #[tokio::test]
    async fn pager_of_the_user_runs_in_a_shell_and_receives_the_whole_text() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("seen");
        let command = format!("{{ echo $LESS $LV; cat; }} > {}", path.display());
        let pagers = [("PAGER", "false"), ("SEGUE_PAGER", command.as_str()), ("LV", "-x")];
        let mut pager = Pager::start(&environment(&pagers)).unwrap();
        pager.write(b"one\n").unwrap();
        pager.write(b"two\n").unwrap();
        pager.finish().unwrap();
        let seen = std::fs::read_to_string(path).unwrap();
        assert!(seen.starts_with("FRX"), "{seen}");
        assert!(seen.ends_with("one\ntwo\n"), "{seen}");
    }

    #[tokio::test]
    async fn quit_pager_breaks_the_pipe_and_missing_pager_is_a_config_error() {
        let mut left = Pager::start(&environment(&[("PAGER", "true")])).unwrap();
        let everything = vec![b'x'; 1 << 20];
        assert_eq!(left.write(&everything).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        left.finish().unwrap();
        let absent = Pager::start(&environment(&[("PAGER", "/absent/pager")])).unwrap();
        assert_eq!(absent.finish().unwrap_err().kind, segue_core::Kind::Config);
        for none in ["", " ", "cat"] {
            assert!(Pager::start(&environment(&[("SEGUE_PAGER", none)])).is_none());
        }
    }
}
