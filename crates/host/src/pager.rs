//! A program that shows a long text a screen at a time.

use std::io::{self, Write as _};
use std::os::fd::BorrowedFd;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::stdio::{stderr, stdout};
use rustix::termios::{isatty, tcgetwinsize};
use segue_core::model::Environment;
use segue_core::{Error, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Which variables name the user's pager, the first that is set first.
const NAMES: [&str; 2] = ["SEGUE_PAGER", "PAGER"];

/// What pagers are told where the user has told them nothing: show colours, leave at once where all
/// fits, leave the screen as it is.
const DEFAULTS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];

/// What a shell says when there is no such program, or it cannot be run.
const NOT_RUN: [i32; 2] = [126, 127];

/// The size of the terminal that standard output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub rows: usize,
    pub columns: usize,
}

impl Size {
    /// Returns the size of standard output; none where that is no terminal.
    pub fn of_output() -> Option<Self> {
        Self::of(stdout())
    }

    /// Returns the size of standard error; none where that is no terminal.
    pub fn of_errors() -> Option<Self> {
        Self::of(stderr())
    }

    fn of(terminal: BorrowedFd<'_>) -> Option<Self> {
        if !isatty(terminal) {
            return None;
        }
        let size = tcgetwinsize(terminal).ok();
        // A terminal that has no size is one of the usual size.
        let known = size.filter(|size| size.ws_row > 0 && size.ws_col > 0);
        let (rows, columns) = known.map_or((24, 80), |size| (size.ws_row, size.ws_col));
        Some(Self { rows: rows.into(), columns: columns.into() })
    }
}

/// A pager that was started. Whoever writes to it waits until the reader wants more.
#[derive(Debug)]
pub struct Pager {
    child: Child,
    input: Option<ChildStdin>,
    name: String,
    /// A key that interrupts is the pager's: this process outlives it.
    _interrupts: Option<Signal>,
}

impl Pager {
    /// Starts the user's pager, or the usual one; none where there is none, or none is wanted.
    pub fn start(environment: &Environment) -> Option<Self> {
        let wanted = NAMES.into_iter().find_map(|name| environment.get(name)).map(str::trim);
        let (name, mut command) = match wanted {
            Some("" | "cat") => return None,
            Some(wanted) => (wanted, Command::new("sh")),
            None => ("less", Command::new("less")),
        };
        match wanted {
            Some(wanted) => command.args(["-c", wanted]),
            None => command.arg("-FRX"),
        };
        let unset = DEFAULTS.into_iter().filter(|(name, _)| environment.get(name).is_none());
        let mut child = command.envs(unset).stdin(Stdio::piped()).spawn().ok()?;
        let input = child.stdin.take();
        let interrupts = signal(SignalKind::interrupt()).ok();
        Some(Self { child, input, name: name.to_owned(), _interrupts: interrupts })
    }

    /// Gives the pager more; a broken pipe when its reader has left it.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.input {
            Some(input) => input.write_all(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Waits until the reader has left.
    pub fn finish(mut self) -> Result<()> {
        drop(self.input.take());
        let status = self.child.wait();
        let not_run = |code| NOT_RUN.contains(&code);
        match status {
            Ok(status) if !status.code().is_some_and(not_run) => Ok(()),
            Ok(_) => Err(Error::config(format!("the pager `{}` cannot be run", self.name))
                .hint("set `SEGUE_PAGER` to one that can, or use `--no-pager`")),
            Err(error) => Err(Error::internal("the pager is lost").caused_by(error)),
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
    async fn the_users_own_pager_is_a_shell_command_and_gets_everything() {
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
    async fn one_that_is_left_breaks_the_pipe_and_one_that_cannot_be_run_is_told() {
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
