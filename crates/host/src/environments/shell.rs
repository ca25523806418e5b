//! Runs the user's login shell and reads its environment.
//!
//! The shell is an interactive login shell, because people set variables in the files of both kinds
//! of shells. It has no terminal, and a session (`setsid`) of its own. So no process that a profile
//! starts has the rights of the user with this Segue (see [`crate::peer`]).

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command as StdCommand, ExitStatus, Stdio};
use std::time::Duration;

use nix::unistd::{Uid, User};
use rustix::process::{Pid, Signal, kill_process_group, setsid};
use segue_core::model::Environment;
use segue_core::rules::environment::READING;
use segue_core::{Error, Result};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};
use uuid::Uuid;

use super::marked::{self, ShellVariables};
use crate::failure::quoted;
use crate::orphans;
use crate::programs::this_program;

/// The internal subcommands of this program.
const BECOME_SHELL: &str = "login-shell";
const PRINT: &str = "print-environment";

/// The maximum length of the output. An environment has at most about 2 MiB, and profiles print
/// little.
const MAX_OUTPUT_BYTES: usize = 8 << 20;

/// The login shell of the user, according to the user database.
#[derive(Clone, Debug)]
pub(super) struct Login {
    /// This program, which the shell runs to print its environment.
    pub(super) program: PathBuf,
    pub(super) shell: PathBuf,
    pub(super) user: String,
    pub(super) home: PathBuf,
}

/// Reads the environment of the user's login shell. The shell starts with the variables of `base`.
/// All processes of the shell are ended before this returns.
pub(super) async fn read(base: &Environment, timeout: Duration) -> Result<Environment> {
    // The user database may be on a network, so the lookup may block.
    let login = tokio::task::spawn_blocking(login).await;
    let login = login.map_err(|error| Error::internal("no user was found").caused_by(error))??;
    read_from(&login, base, timeout).await
}

fn login() -> Result<Login> {
    let user = Uid::effective();
    let unknown = || Error::unavailable(format!("the user database has no user {user}"));
    let found = User::from_uid(user).map_err(|error| unknown().caused_by(error))?;
    let User { name, dir, shell, .. } = found.ok_or_else(unknown)?;
    let shell = if shell.as_os_str().is_empty() { "/bin/sh".into() } else { shell };
    Ok(Login { program: this_program(), shell, user: name, home: dir })
}

/// Reads the environment of this login shell.
pub(super) async fn read_from(
    login: &Login,
    base: &Environment,
    timeout: Duration,
) -> Result<Environment> {
    let mark = format!("segue-{}", Uuid::new_v4().simple());
    let mut running = RunningShell::start(login, base, &mark)?;
    let read = tokio::time::timeout(timeout, running.read_variables(&mark)).await;
    let status = running.end().await;
    let ShellVariables { environment, left_out } = match read {
        Ok(read) => read.map_err(|silence| failed(&login.shell, silence.why(status)))?,
        Err(_) => {
            let why = format!("it took longer than {} seconds", timeout.as_secs());
            return Err(failed(&login.shell, why));
        }
    };
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        tracing::warn!(names, "variables of the login shell are left out: they are not UTF-8");
    }
    Ok(environment)
}

fn failed(shell: &Path, why: String) -> Error {
    let shell = quoted(shell);
    Error::unavailable(format!("cannot read the environment of the login shell `{shell}`"))
        .caused_by(why)
        .hint(format!("run `{shell} -i -l -c true < /dev/null` to see what your profile does"))
        .hint("set `shell = false` under `[environment]` in config.toml to use no login shell")
}

/// Why a shell printed no environment.
#[derive(Debug)]
enum ShellFailure {
    Ended,
    TooLong,
    Unreadable(std::io::Error),
}

impl ShellFailure {
    fn why(self, status: Option<ExitStatus>) -> String {
        match (self, status) {
            (Self::Ended, Some(status)) => format!("it ended before it printed it: {status}"),
            (Self::Ended, None) => "it ended before it printed it".to_owned(),
            (Self::TooLong, _) => format!("it printed more than {MAX_OUTPUT_BYTES} bytes"),
            (Self::Unreadable(error), _) => format!("its output cannot be read: {error}"),
        }
    }
}

/// A running login shell. Dropping it ends all processes of its group.
struct RunningShell {
    child: Child,
    group: Option<Pid>,
    _own: Option<orphans::OwnProcess>,
}

impl RunningShell {
    fn start(login: &Login, base: &Environment, mark: &str) -> Result<Self> {
        let mut environment = base.clone();
        environment.set("SHELL", login.shell.to_string_lossy());
        environment.set("USER", login.user.as_str());
        environment.set("LOGNAME", login.user.as_str());
        environment.set(READING, "1");
        let home = environment.get("HOME").map_or(login.home.clone(), PathBuf::from);
        environment.set("HOME", home.to_string_lossy());
        let folder = if home.is_dir() { home } else { PathBuf::from("/") };
        let mut command = Command::new(&login.program);
        command.arg(BECOME_SHELL).arg(&login.shell).arg(&login.program).arg(mark);
        command.env_clear().envs(environment.iter()).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let started = orphans::OwnProcess::start(command.kill_on_drop(true));
        let (child, own) = started.map_err(|error| failed(&login.shell, error.to_string()))?;
        let group = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        Ok(Self { child, group, _own: own })
    }

    /// Reads the output until the variables are complete.
    async fn read_variables(
        &mut self,
        mark: &str,
    ) -> std::result::Result<ShellVariables, ShellFailure> {
        let Some(stdout) = self.child.stdout.as_mut() else { return Err(ShellFailure::Ended) };
        let mut output = Vec::new();
        loop {
            let count = stdout.read_buf(&mut output).await.map_err(ShellFailure::Unreadable)?;
            // The variables end with a zero byte, so most text of a profile is not searched.
            let may_be_complete = output.ends_with(b"\0") || count == 0;
            let read = || marked::read(&output, mark);
            if let Some(variables) = may_be_complete.then(read).flatten() {
                return Ok(variables);
            }
            if count == 0 {
                return Err(ShellFailure::Ended);
            }
            if output.len() > MAX_OUTPUT_BYTES {
                return Err(ShellFailure::TooLong);
            }
        }
    }

    /// Kills all processes in the group of the shell. Returns the exit status of the shell.
    async fn end(mut self) -> Option<ExitStatus> {
        let own_status = self.child.try_wait().ok().flatten();
        self.end_group();
        // Before the shell has called `setsid`, it is not in that group.
        let _gone = self.child.start_kill();
        let status = self.child.wait().await.ok();
        self.group = None;
        own_status.or(status)
    }

    fn end_group(&self) {
        if let Some(group) = self.group {
            // It fails if the group has no process.
            let _gone = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for RunningShell {
    fn drop(&mut self) {
        self.end_group();
    }
}

/// Becomes the login shell that prints its environment. Returns only if that fails. Arguments: the
/// shell, this program, and the mark for the output.
pub fn become_login_shell(arguments: impl IntoIterator<Item = OsString>) -> Error {
    let mut arguments = arguments.into_iter();
    let words = (arguments.next(), arguments.next(), arguments.next());
    let (Some(shell), Some(program), Some(mark)) = words else {
        return Error::usage(format!("only the daemon may use `{BECOME_SHELL}`"));
    };
    // It fails only for a process that is a process group leader already.
    let _session = setsid();
    let program = quoted(Path::new(&program));
    let print = format!("{program} {PRINT} {}", mark.to_string_lossy());
    let shell = PathBuf::from(shell);
    let error = StdCommand::new(&shell).args(flags(&shell)).arg(print).exec();
    Error::unavailable(format!("cannot start `{}`", shell.display())).caused_by(error)
}

/// Returns the flags that make a shell an interactive login shell which runs a command.
fn flags(shell: &Path) -> &'static [&'static str] {
    match shell.file_name().and_then(OsStr::to_str) {
        // These shells refuse `-l` together with other flags.
        Some("csh" | "tcsh") => &["-i", "-c"],
        Some("pwsh") => &["-Login", "-Command"],
        _ => &["-i", "-l", "-c"],
    }
}

/// Prints the environment of this process between two marks.
pub fn print_environment(mark: &OsStr) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&marked::write(mark, std::env::vars_os()))?;
    stdout.flush()
}
