//! Starts a holder process. It gets its order through a pipe, and answers with one line.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use segue_core::model::{Environment, LaunchId};
use segue_core::{Error, Result, failpoint};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::client::end_of_log;
use super::order::{self, HoldOrder, LiveProcesses, OrderAnswer, log_path};
use crate::failure::cannot;
use crate::{orphans, process, scope};

/// How long a holder may take to start its agent. It may have to end processes of a dead launch
/// first.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum length of an answer. Real answers are shorter.
const MAX_ANSWER_BYTES: u64 = 256 << 10;

/// The subcommand of a holder. The launch folder is its argument.
const SUBCOMMAND: &str = "hold";

/// The program and the environment with which holders are started.
pub(super) struct Spawn<'a> {
    pub(super) program: &'a Path,
    /// The environment of the process that starts the holders.
    pub(super) environment: &'a Environment,
}

/// Starts a holder and waits until its agent runs.
pub(super) async fn start(
    spawn: &Spawn<'_>,
    folder: &Path,
    order: &HoldOrder,
) -> Result<LiveProcesses> {
    let scope = scope::prefix(spawn.environment, order.launch);
    let mut answer = attempt(spawn, &scope, folder, order).await?;
    if answer.is_none() && !scope.is_empty() {
        // The scope could not be created. A holder without a scope is better than no holder.
        answer = attempt(spawn, &[], folder, order).await?;
    }
    match answer {
        Some(OrderAnswer::Started(live)) => Ok(live),
        Some(OrderAnswer::Failed(error)) => Err(error),
        None => Err(died(folder)),
    }
}

/// Starts a holder once. `None` if it died without an answer.
async fn attempt(
    spawn: &Spawn<'_>,
    scope: &[String],
    folder: &Path,
    order: &HoldOrder,
) -> Result<Option<OrderAnswer>> {
    let mut command = command(spawn, scope, folder)?;
    failpoint::hit("holders.spawn.before");
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            order::write_end_if_missing(folder, &order::never_started())?;
            return Err(failed(error));
        }
    };
    // Register the holder before it gets its order. After that, it leaves this process's session.
    child.id().into_iter().for_each(|pid| orphans::expect_holder(pid, order.launch));
    failpoint::hit("holders.spawn.after");
    let Ok(line) = tokio::time::timeout(START_TIMEOUT, exchange(&mut child, order)).await else {
        child.kill().await.map_err(failed)?;
        return Err(late(folder));
    };
    // Do not wait for the child. It keeps running, and the runtime collects its exit status when it
    // ends.
    Ok(serde_json::from_slice(&line?).ok())
}

fn command(spawn: &Spawn<'_>, scope: &[String], folder: &Path) -> Result<Command> {
    let mut command = match scope.split_first() {
        Some((program, arguments)) => {
            let mut command = Command::new(program);
            command.args(arguments).arg(spawn.program);
            command
        }
        None => Command::new(spawn.program),
    };
    command.arg(SUBCOMMAND).arg(folder);
    let inherited = spawn.environment.iter().filter(|(name, _)| is_inherited(name));
    command.env_clear().envs(inherited);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(open_log(folder)?);
    Ok(command)
}

/// Returns the launch whose holder has this command line.
pub(crate) fn held_launch(words: &[String]) -> Option<LaunchId> {
    let [_program, subcommand, folder] = words else { return None };
    let launch = Path::new(folder).file_name()?.to_str()?;
    launch.parse().ok().filter(|_| subcommand == SUBCOMMAND)
}

/// Returns whether a process is the holder of the launch with this folder.
pub(crate) fn is_holder_of(pid: u32, folder: &Path) -> bool {
    let words = process::words(pid);
    let [_program, subcommand, held] = words.as_slice() else { return false };
    subcommand == SUBCOMMAND && is_same_folder(Path::new(held), folder)
}

/// Returns whether two paths lead to the same folder. Follows symlinks.
fn is_same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

/// Returns whether a holder inherits an environment variable. The agent's environment is in the
/// order.
fn is_inherited(name: &str) -> bool {
    const NAMES: [&str; 5] = ["PATH", "HOME", "LANG", "TZ", "XDG_RUNTIME_DIR"];
    NAMES.contains(&name) || name.starts_with("SEGUE_FAILPOINT")
}

fn open_log(folder: &Path) -> Result<File> {
    let path = log_path(folder);
    let mut options = OpenOptions::new();
    let log = options.append(true).create(true).mode(0o600).open(&path);
    log.map_err(|error| cannot("write", &path, &error))
}

/// Sends the order and returns the answer. The answer is empty if the holder died.
async fn exchange(child: &mut Child, order: &HoldOrder) -> Result<Vec<u8>> {
    let order = serde_json::to_vec(order).map_err(failed)?;
    let mut stdin = child.stdin.take().ok_or_else(|| failed("it has no input"))?;
    let stdout = child.stdout.take().ok_or_else(|| failed("it has no output"))?;
    // It fails only if the holder has died. Then the answer is empty.
    let _sent = stdin.write_all(&order).await;
    drop(stdin);
    let mut line = Vec::new();
    let mut answer = stdout.take(MAX_ANSWER_BYTES);
    answer.read_to_end(&mut line).await.map_err(failed)?;
    Ok(line)
}

fn failed(cause: impl std::fmt::Display) -> Error {
    Error::internal("cannot start a holder").caused_by(cause)
}

fn died(folder: &Path) -> Error {
    let error = Error::internal("the holder died before it reported that its agent runs");
    match end_of_log(&log_path(folder)) {
        Some(words) => error.caused_by(words),
        None => error.caused_by("its log is empty"),
    }
}

fn late(folder: &Path) -> Error {
    Error::unavailable("the holder takes too long to start its agent")
        .hint(format!("read `{}` to see what it waits for", log_path(folder).display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holder_is_recognized_by_its_command_line() {
        let launch = "0198c0de-0000-7000-8000-000000000001";
        let held =
            |line: &str| held_launch(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(held(&format!("/bin/segue hold /s/{launch}")), launch.parse().ok());
        for other in ["segue hold /s/x", "segue hold", "sh", &format!("segue run /s/{launch}")] {
            assert_eq!(held(other), None, "{other}");
        }
    }
}
