//! Runs shell commands of the user, such as the verify command of a task or the setup of a worktree.
//!
//! A command has a session (`setsid`) of its own, so that none of its processes has the rights of the
//! user with this Segue (see [`crate::peer`]): it may run code that an agent wrote.

mod log;

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command as StdCommand, ExitStatus, Stdio};

use async_trait::async_trait;
use rustix::process::{Pid, Signal, kill_process_group, setsid};
use segue_core::model::WorktreeId;
use segue_core::ports::{CommandOrder, CommandReport, Commands};
use segue_core::{Error, Result};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStdout, Command};

use self::log::CommandLog;
use crate::orphans;
use crate::paths::Paths;
use crate::programs::this_program;

/// The internal subcommand of this program that becomes the shell.
const BECOME_SHELL: &str = "shell-command";

const SHELL: &str = "/bin/sh";

/// At most this much of the end of the output is kept.
const MAX_OUTPUT_BYTES: usize = 16 * 1024;

/// Runs commands on this machine. Needs a tokio runtime.
#[derive(Clone, Debug)]
pub struct LocalCommands {
    logs: PathBuf,
}

impl LocalCommands {
    pub fn new(paths: &Paths) -> Self {
        Self { logs: paths.worktree_logs() }
    }
}

#[async_trait]
impl Commands for LocalCommands {
    async fn run(&self, order: CommandOrder) -> Result<CommandReport> {
        let mut running = RunningCommand::start(&order)?;
        let ended = tokio::time::timeout(order.timeout, running.finish()).await;
        running.end_group();
        let (passed, ending) = match ended {
            Ok(Some(status)) => (status.success(), status.to_string()),
            Ok(None) => (false, "its exit status is unknown".to_owned()),
            Err(_) => (false, format!("it took longer than {:.0} s", order.timeout.as_secs_f64())),
        };
        running.log.end(&ending);
        let output = String::from_utf8_lossy(&running.output).trim_end().to_owned();
        Ok(CommandReport { passed, ending, output })
    }

    fn log_of(&self, worktree: WorktreeId) -> PathBuf {
        self.logs.join(format!("{worktree}.log"))
    }

    fn remove_log(&self, worktree: WorktreeId) {
        log::remove(&self.log_of(worktree));
    }
}

/// A command that runs. Dropping it ends all processes of its group.
struct RunningCommand {
    child: Child,
    stdout: Option<ChildStdout>,
    group: Option<Pid>,
    output: Vec<u8>,
    log: CommandLog,
    _own: Option<orphans::OwnProcess>,
}

impl RunningCommand {
    fn start(order: &CommandOrder) -> Result<Self> {
        let failed =
            |error| Error::config(format!("cannot run `{}`", order.command)).caused_by(error);
        let mut command = Command::new(this_program());
        command.arg(BECOME_SHELL).arg(&order.command);
        command.env_clear().envs(order.environment.iter()).current_dir(&order.folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.kill_on_drop(true);
        let (mut child, own) = orphans::OwnProcess::start(&mut command).map_err(failed)?;
        let group = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        let stdout = child.stdout.take();
        let log = CommandLog::begin(order.log.clone(), &order.command);
        Ok(Self { child, stdout, group, output: Vec::new(), log, _own: own })
    }

    /// Reads the output until the shell has ended and all its output is read.
    async fn finish(&mut self) -> Option<ExitStatus> {
        let mut status = None;
        let mut stdout = self.stdout.take()?;
        let mut chunk = Vec::new();
        loop {
            chunk.clear();
            tokio::select! {
                read = stdout.read_buf(&mut chunk) => match read {
                    Ok(count) if count > 0 => {
                        keep_end(&mut self.output, &chunk);
                        self.log.write(&chunk);
                    }
                    _ => break,
                },
                ended = self.child.wait(), if status.is_none() => {
                    status = Some(ended.ok());
                    // Processes that it left behind would keep the output open.
                    self.end_group();
                }
            }
        }
        match status {
            Some(status) => status,
            None => self.child.wait().await.ok(),
        }
    }

    /// Kills all processes of the group, once: later its id can belong to other processes.
    fn end_group(&mut self) {
        if let Some(group) = self.group.take() {
            // It fails if the group has no process.
            let _gone = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        self.end_group();
    }
}

/// Adds bytes to the output, and drops its beginning if it is too long.
fn keep_end(output: &mut Vec<u8>, bytes: &[u8]) {
    output.extend_from_slice(bytes);
    let excess = output.len().saturating_sub(MAX_OUTPUT_BYTES);
    output.drain(..excess);
}

/// Becomes the shell that runs a command. Returns only if that fails. Argument: the command.
pub fn become_shell(arguments: impl IntoIterator<Item = OsString>) -> Error {
    let Some(command) = arguments.into_iter().next() else {
        return Error::usage(format!("only the daemon may use `{BECOME_SHELL}`"));
    };
    // It fails only for a process that is a process group leader already.
    let _session = setsid();
    let mut script = OsString::from("exec 2>&1\n");
    script.push(command);
    let error = StdCommand::new(SHELL).arg("-c").arg(script).exec();
    Error::unavailable(format!("cannot start `{SHELL}`")).caused_by(error)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use segue_core::model::Environment;

    use super::*;

    #[test]
    fn only_the_end_of_the_output_is_kept() {
        let mut running = Vec::new();
        keep_end(&mut running, &[b'a'; MAX_OUTPUT_BYTES]);
        keep_end(&mut running, b"end");
        assert_eq!(running.len(), MAX_OUTPUT_BYTES);
        assert!(running.ends_with(b"aend"));
    }

    #[tokio::test]
    async fn folder_that_does_not_exist_is_an_error() {
        let order = CommandOrder {
            command: "true".to_owned(),
            folder: "/no/such/folder".into(),
            environment: Environment::default(),
            timeout: Duration::from_secs(60),
            log: None,
        };
        let commands = LocalCommands { logs: "/no/such/folder".into() };
        let error = commands.run(order).await.unwrap_err();
        assert!(error.to_string().contains("cannot run `true`"), "{error}");
    }
}
