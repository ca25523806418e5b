//! The last step before the agent: a process that has its terminal and its environment becomes it.
//!
//! Between fork and exec only unsafe code could do this, so it is a program of its own. Whoever
//! started it hears through a pipe whether it worked: exec closes the pipe without a word.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::stdio::{dup2_stderr, stderr, stdin};
use segue_core::{Error, Result};

use crate::failure::cannot;

/// What the agent is connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Connection {
    /// The terminal that is this process's standard input and output.
    Terminal,
    /// Pipes; errors are appended to this file.
    Pipes { errors: PathBuf },
}

/// Returns the arguments that [`exec_agent`] takes.
pub(super) fn arguments(connection: &Connection, cwd: &Path, argv: &[String]) -> Vec<OsString> {
    let errors = match connection {
        Connection::Terminal => OsString::new(),
        Connection::Pipes { errors } => errors.as_os_str().to_owned(),
    };
    let argv = argv.iter().map(OsString::from);
    [errors, cwd.as_os_str().to_owned()].into_iter().chain(argv).collect()
}

/// Becomes the agent. It returns only when that fails; then it has said so through its standard
/// error, which must be a pipe to the holder.
pub fn exec_agent(arguments: impl IntoIterator<Item = OsString>) -> Error {
    let report = match fcntl_dupfd_cloexec(stderr(), 3) {
        Ok(report) => report,
        Err(error) => return Error::internal("cannot report to the holder").caused_by(error),
    };
    let Err(error) = become_agent(arguments.into_iter());
    say(report, &error);
    error
}

fn become_agent(mut arguments: impl Iterator<Item = OsString>) -> Result<std::convert::Infallible> {
    let missing = || Error::internal("`exec-agent` is for the holder alone");
    let errors = arguments.next().ok_or_else(missing)?;
    let cwd = PathBuf::from(arguments.next().ok_or_else(missing)?);
    let program = arguments.next().ok_or_else(missing)?;
    connect(if errors.is_empty() {
        Connection::Terminal
    } else {
        Connection::Pipes { errors: errors.into() }
    })?;
    std::env::set_current_dir(&cwd).map_err(|error| {
        Error::not_found(format!("the agent cannot work in `{}`", cwd.display())).caused_by(error)
    })?;
    let error = Command::new(&program).args(arguments).exec();
    let program = program.to_string_lossy();
    Err(Error::vendor(format!("cannot start `{}`", program.escape_debug())).caused_by(error))
}

/// Gives the agent a session of its own, its terminal, and its standard error.
fn connect(connection: Connection) -> Result<()> {
    let failed = |error| Error::internal("cannot give the agent its terminal").caused_by(error);
    setsid().map_err(failed)?;
    match connection {
        Connection::Terminal => {
            ioctl_tiocsctty(stdin()).map_err(failed)?;
            dup2_stderr(stdin()).map_err(failed)
        }
        Connection::Pipes { errors } => {
            let mut options = OpenOptions::new();
            let file = options.append(true).create(true).mode(0o600).open(&errors);
            dup2_stderr(file.map_err(|error| cannot("write", &errors, &error))?).map_err(failed)
        }
    }
}

fn say(report: OwnedFd, error: &Error) {
    let text = serde_json::to_vec(error).unwrap_or_default();
    // A holder that is gone needs no report.
    let _heard = File::from(report).write_all(&text);
}
