//! Starts an agent with its terminal or its pipes.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, waitpid};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{
    OptionalActions, SpecialCodeIndex, Winsize, tcgetattr, tcgetpgrp, tcsetattr, tcsetwinsize,
};
use segue_core::model::{Environment, ProcessRef};
use segue_core::{Error, Result, failpoint};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::log;
use crate::cgroup::AgentGroup;
use crate::failure::cannot;
use crate::folders::STREAM;
use crate::hold::descriptors::unblocked;
use crate::hold::exec::{self, AgentConnection};
use crate::hold::order::{HoldOrder, errors_path};
use crate::hold::terminal::Size;
use crate::process;

/// The maximum length of the report of a failed start. Real reports are shorter.
const MAX_REPORT_BYTES: u64 = 64 << 10;

/// `_POSIX_VDISABLE`: the value of a special key that no byte triggers.
const DISABLED_KEY: u8 = 0;

/// The terminal or the pipes of the agent.
pub(super) enum AgentStream {
    Terminal {
        master: AsyncFd<OwnedFd>,
        /// Kept open, so that the terminal survives an agent that closes it for a while.
        slave: OwnedFd,
    },
    Pipes {
        output: AsyncFd<OwnedFd>,
        file: File,
    },
}

impl AgentStream {
    pub(super) fn output(&self) -> &AsyncFd<OwnedFd> {
        match self {
            Self::Terminal { master, .. } => master,
            Self::Pipes { output, .. } => output,
        }
    }

    /// Records the output of a headless agent, byte for byte.
    pub(super) fn record_output(&mut self, bytes: &[u8]) {
        if let Self::Pipes { file, .. } = self
            && let Err(error) = file.write_all(bytes)
        {
            log(&format!("{} bytes of the agent's output are lost: {error}", bytes.len()));
        }
    }

    /// Syncs the recorded output to disk.
    pub(super) fn sync(&self) {
        if let Self::Pipes { file, .. } = self
            && let Err(error) = file.sync_all()
        {
            log(&format!("the agent's output may not be on disk: {error}"));
        }
    }

    /// Notifies the agent of the size of its terminal (SIGWINCH), even if it has not changed. The
    /// kernel notifies it only of changes.
    pub(super) fn announce_size(&self) {
        if let Self::Terminal { master, .. } = self
            && let Ok(foreground) = tcgetpgrp(master.get_ref())
        {
            // The process group may have ended.
            let _sent = kill_process_group(foreground, Signal::WINCH);
        }
    }

    /// Sets the size of the agent's terminal. The kernel notifies the agent.
    pub(super) fn resize(&self, size: Size) {
        if let Self::Terminal { master, .. } = self
            && let Err(error) = set_size(master.get_ref(), size)
        {
            log(&format!("the agent's terminal cannot be resized: {error}"));
        }
    }
}

/// A started agent.
pub(super) struct StartedAgent {
    pub(super) process: ProcessRef,
    pub(super) stream: AgentStream,
}

/// Starts the agent. Returns when the agent runs or has failed to start.
pub(super) fn start(
    order: &HoldOrder,
    folder: &Path,
    group: Option<&AgentGroup>,
) -> Result<StartedAgent> {
    let prepared = if order.headless {
        Prepared::pipes(folder)?
    } else {
        Prepared::terminal(order.first_size())?
    };
    let (mut report, reporter) = std::io::pipe().map_err(failed)?;
    let connection = prepared.connection(order.input.as_deref());
    let (stdout, stderr, stream) = prepared.split()?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0("segue").arg("exec-agent");
    command.args(exec::arguments(&connection, group, order));
    command.env_clear().envs(environment(order, &connection).iter());
    command.stdin(reporter).stdout(stdout).stderr(stderr);
    failpoint::hit("hold.spawn.before");
    let child = command.spawn().map_err(failed)?;
    // The command has copies of the descriptors that the agent writes to. The pipes do not reach
    // EOF while these copies are open.
    drop(command);
    let process = identify(child.id());
    let mut text = Vec::new();
    report.by_ref().take(MAX_REPORT_BYTES).read_to_end(&mut text).map_err(failed)?;
    if !text.is_empty() {
        collect(child.id());
        let error = serde_json::from_slice(&text);
        return Err(error.unwrap_or_else(|_| failed(String::from_utf8_lossy(&text))));
    }
    failpoint::hit("hold.spawn.after");
    Ok(StartedAgent { process, stream })
}

fn failed(cause: impl std::fmt::Display) -> Error {
    Error::internal("cannot start the agent").caused_by(cause)
}

/// Returns the agent's environment. Its terminal variables describe the holder's terminal, not the
/// caller's.
fn environment(order: &HoldOrder, connection: &AgentConnection) -> Environment {
    let mut environment = order.environment.clone();
    if *connection == AgentConnection::Terminal {
        environment.set("TERM", "xterm-256color");
        environment.set("COLORTERM", "truecolor");
        // These two contain the size of another terminal.
        environment.retain(|name| !["LINES", "COLUMNS"].contains(&name));
    }
    environment
}

/// Identifies the process right after its start, before its id can be reused.
fn identify(pid: u32) -> ProcessRef {
    // If the process has exited already, return a reference that matches no process.
    process::find(pid).unwrap_or(ProcessRef { pid, started: 0, boot: String::new() })
}

/// Collects the exit status of a child that did not become the agent.
fn collect(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    while let Err(Errno::INTR) = waitpid(pid, WaitOptions::empty()) {}
}

/// Both ends of the terminal or the pipes that connect the agent.
enum Prepared {
    Terminal { master: OwnedFd, slave: OwnedFd },
    Pipes { reader: OwnedFd, writer: OwnedFd, file: File, errors: File },
}

impl Prepared {
    fn terminal(size: Size) -> Result<Self> {
        let failed = |error| Error::internal("cannot open a pseudo-terminal").caused_by(error);
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).map_err(failed)?;
        grantpt(&master).map_err(failed)?;
        unlockpt(&master).map_err(failed)?;
        let slave = ioctl_tiocgptpeer(&master, flags).map_err(failed)?;
        set_size(&master, size).map_err(failed)?;
        disable_suspend_key(&slave).map_err(failed)?;
        Ok(Self::Terminal { master, slave })
    }

    fn pipes(folder: &Path) -> Result<Self> {
        let (reader, writer) = std::io::pipe().map_err(failed)?;
        let (file, errors) = (append(&folder.join(STREAM))?, append(&errors_path(folder))?);
        Ok(Self::Pipes { reader: reader.into(), writer: writer.into(), file, errors })
    }

    fn connection(&self, input: Option<&Path>) -> AgentConnection {
        match self {
            Self::Terminal { .. } => AgentConnection::Terminal,
            Self::Pipes { .. } => {
                let input = input.unwrap_or(Path::new("/dev/null")).to_owned();
                AgentConnection::Pipes { input }
            }
        }
    }

    /// Returns the agent's standard output and standard error, and the holder's side of them.
    fn split(self) -> Result<(Stdio, Stdio, AgentStream)> {
        match self {
            Self::Terminal { master, slave } => {
                let stdout = slave.try_clone().map_err(failed)?;
                let stderr = slave.try_clone().map_err(failed)?;
                let interest = Interest::READABLE | Interest::WRITABLE;
                let master = unblocked(master, interest).map_err(failed)?;
                Ok((stdout.into(), stderr.into(), AgentStream::Terminal { master, slave }))
            }
            Self::Pipes { reader, writer, file, errors } => {
                let output = unblocked(reader, Interest::READABLE).map_err(failed)?;
                Ok((writer.into(), errors.into(), AgentStream::Pipes { output, file }))
            }
        }
    }
}

/// Opens a file of the launch, to append the agent's output.
fn append(path: &Path) -> Result<File> {
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    file.map_err(|error| cannot("write", path, &error))
}

/// Disables the suspend key (^Z) of the terminal, because there is no shell to resume the agent. A
/// program in raw mode still reads the key, and a shell can enable it again with `stty susp`.
fn disable_suspend_key(terminal: &OwnedFd) -> rustix::io::Result<()> {
    let mut settings = tcgetattr(terminal)?;
    settings.special_codes[SpecialCodeIndex::VSUSP] = DISABLED_KEY;
    tcsetattr(terminal, OptionalActions::Now, &settings)
}

fn set_size(terminal: &OwnedFd, size: Size) -> rustix::io::Result<()> {
    let size = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size)
}
