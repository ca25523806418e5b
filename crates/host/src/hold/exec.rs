//! The last step before the agent: a process that has the agent's terminal and environment becomes
//! the agent.
//!
//! Between fork and exec only unsafe code could do this step, so it is a program of its own. It
//! reports a failure through a pipe, which is its standard input at first. `exec` closes the pipe.
//! An empty report means that the agent runs. Standard output and error belong to the agent from
//! the beginning. Text that is printed there before `exec`, for example by the dynamic linker, is
//! no report.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::stdio::{dup2_stdin, stdin, stdout};
use segue_core::{Error, Result};

use crate::cgroup::{self, AgentGroup};
use crate::failure::cannot;
use crate::hold::order::HoldOrder;

/// The agent's standard input and output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AgentConnection {
    /// The terminal that is this process's standard output and error.
    Terminal,
    /// Pipes. The agent's standard input is this file.
    Pipes { input: PathBuf },
}

/// Returns the arguments for [`exec_agent`].
pub(super) fn arguments(
    connection: &AgentConnection,
    group: Option<&AgentGroup>,
    order: &HoldOrder,
) -> Vec<OsString> {
    let entrance = group.map(|group| group.entrance().into_os_string()).unwrap_or_default();
    let input = match connection {
        AgentConnection::Terminal => OsString::new(),
        AgentConnection::Pipes { input } => input.as_os_str().to_owned(),
    };
    let count = order.before.len().to_string().into();
    let words = order.before.iter().chain(&order.argv).map(OsString::from);
    let cwd = order.cwd.as_os_str().to_owned();
    [entrance, input, cwd, count].into_iter().chain(words).collect()
}

/// Becomes the agent. Returns only if that fails, after it has reported the failure through
/// standard input, which must be a pipe to the holder.
pub fn exec_agent(arguments: impl IntoIterator<Item = OsString>) -> Error {
    let mut report = match fcntl_dupfd_cloexec(stdin(), 3) {
        Ok(report) => Some(report),
        Err(error) => return Error::internal("cannot report to the holder").caused_by(error),
    };
    let Err(error) = become_agent(arguments.into_iter(), &mut report);
    match report {
        Some(report) => send(report, &error),
        // The report was closed before the command that prepares the launch. So print the error as
        // the agent's last output.
        None => drop(writeln!(std::io::stderr(), "Error: {error}")),
    }
    error
}

fn become_agent(
    mut arguments: impl Iterator<Item = OsString>,
    report: &mut Option<OwnedFd>,
) -> Result<std::convert::Infallible> {
    let missing = || Error::internal("only the holder may use `exec-agent`");
    let entrance = PathBuf::from(arguments.next().ok_or_else(missing)?);
    let input = arguments.next().ok_or_else(missing)?;
    let cwd = PathBuf::from(arguments.next().ok_or_else(missing)?);
    let count = arguments.next().and_then(|count| count.to_str()?.parse().ok());
    let before: Vec<OsString> = arguments.by_ref().take(count.ok_or_else(missing)?).collect();
    let program = arguments.next().ok_or_else(missing)?;
    if !entrance.as_os_str().is_empty() {
        // If this fails, the agent starts without its cgroup, and `segue doctor` reports that.
        let _entered = cgroup::enter(&entrance);
    }
    connect(if input.is_empty() {
        AgentConnection::Terminal
    } else {
        AgentConnection::Pipes { input: input.into() }
    })?;
    std::env::set_current_dir(&cwd).map_err(|error| {
        Error::not_found(format!("the agent cannot work in `{}`", cwd.display())).caused_by(error)
    })?;
    // The user has allowed the agent to work in this path. Another process may have replaced the
    // folder by a symlink since then.
    if !std::env::current_dir().is_ok_and(|entered| entered == cwd) {
        return Err(Error::conflict(format!("`{}` was replaced meanwhile", cwd.display()))
            .hint("run the command again in the right folder"));
    }
    prepare(&before, report)?;
    let error = Command::new(&program).args(arguments).exec();
    Err(cannot_start(&program, &error))
}

fn cannot_start(program: &OsStr, error: &std::io::Error) -> Error {
    let program = program.to_string_lossy();
    Error::vendor(format!("cannot start `{}`", program.escape_debug())).caused_by(error)
}

/// Runs the command that must succeed before the agent starts. It is already a part of the launch.
/// So the report is closed first, and the holder does not wait for the command.
fn prepare(before: &[OsString], report: &mut Option<OwnedFd>) -> Result<()> {
    let Some((program, words)) = before.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().map_err(|error| cannot_start(program, &error))?;
    drop(report.take());
    let status = child.wait().map_err(|error| cannot_start(program, &error))?;
    if status.success() {
        return Ok(());
    }
    let program = program.to_string_lossy();
    Err(Error::vendor(format!("`{}` could not prepare the launch", program.escape_debug()))
        .caused_by(status))
}

/// Gives the agent its own session, its terminal and its standard input.
fn connect(connection: AgentConnection) -> Result<()> {
    let failed = |error| Error::internal("cannot give the agent its terminal").caused_by(error);
    setsid().map_err(failed)?;
    match connection {
        AgentConnection::Terminal => {
            dup2_stdin(stdout()).map_err(failed)?;
            ioctl_tiocsctty(stdin()).map_err(failed)
        }
        AgentConnection::Pipes { input } => {
            let file = File::open(&input).map_err(|error| cannot("read", &input, &error))?;
            dup2_stdin(file).map_err(failed)
        }
    }
}

fn send(report: OwnedFd, error: &Error) {
    let text = serde_json::to_vec(error).unwrap_or_default();
    // It fails only if the holder is gone.
    let _sent = File::from(report).write_all(&text);
}
