//! The start of the daemon, in both processes. The starting command waits for one line of the
//! daemon. The daemon prints this line when it is ready or has failed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use segue_core::model::Environment;
use segue_core::ports::Files as _;
use segue_core::{Error, Result, failpoint};

use crate::failure::{cannot, quoted};
use crate::files::LocalFiles;
use crate::inherited_descriptors::without_inherited;
use crate::lock::FileLock;
use crate::paths::Paths;
use crate::programs::this_program;

/// How long a daemon may take until it is ready. It may have to migrate a large store.
const READY_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum length of the line. No error is that long.
const MAX_LINE_BYTES: u64 = 64 << 10;
/// A log file larger than this is renamed at the next start.
const MAX_LOG_BYTES: u64 = 8 << 20;
/// An error quotes this many bytes of the log if the daemon died before it printed its line.
const QUOTED_LOG_BYTES: usize = 2000;
/// The limit of open files, enough for thousands of agents. It is not higher, because agents inherit
/// it, and some programs iterate over all possible descriptors.
const OPEN_FILES_LIMIT: u64 = 65536;
/// The arguments that make this program the daemon.
const SUBCOMMAND: [&str; 2] = ["daemon", "run"];
/// The action with which `segue daemon` starts a daemon, unless it runs.
const START_ACTION: &str = "start";
const READY: &str = "ready";
const FAILED: &str = "error: ";

/// A daemon that is ready to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    pub pid: u32,
}

/// Starts a daemon and returns when it is ready. Blocks the thread. The daemon shares the start lock
/// until it is ready, so no second daemon can be started even if the caller dies meanwhile.
pub fn spawn_daemon(
    paths: &Paths,
    environment: &Environment,
    starting: &FileLock,
) -> Result<Ready> {
    let [daemon, run] = SUBCOMMAND;
    let words = [this_program().into_os_string(), daemon.into(), run.into()];
    let mut command = without_inherited(&words);
    command.env_clear();
    command.envs(environment.iter().filter(|(name, _)| is_inherited(name)));
    let lock = starting.share().map_err(|error| cannot("share", &paths.start_lock(), &error))?;
    start(command, lock.into(), &paths.log_file(), READY_TIMEOUT)
}

/// Starts a daemon by a command of its own, and returns when it is ready. Blocks the thread. The daemon
/// is then no descendant of this process: some programs end the descendants of a process together
/// with it.
pub fn spawn_apart(environment: &Environment) -> Result<()> {
    let [daemon, _] = SUBCOMMAND;
    let mut command =
        without_inherited(&[this_program().into_os_string(), daemon.into(), START_ACTION.into()]);
    command.env_clear().envs(environment.iter()).stdin(Stdio::null());
    let output = command
        .output()
        .map_err(|error| Error::unavailable("cannot start the daemon").caused_by(error))?;
    if output.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(Error::unavailable("the daemon cannot be started").caused_by(why.trim()))
}

/// Returns whether this is the command line of a daemon.
pub(crate) fn is_daemon(words: &[String]) -> bool {
    words.get(1..).is_some_and(|words| words == SUBCOMMAND)
}

/// Detaches this process from the terminal and the working folder of its parent.
pub fn become_daemon() -> Result<()> {
    match rustix::process::setsid() {
        // A process group leader cannot call `setsid`. Its parent made it the leader on purpose, so
        // it stays in the session of its parent.
        Ok(_) | Err(rustix::io::Errno::PERM) => {}
        Err(error) => return Err(Error::internal("cannot leave the terminal").caused_by(error)),
    }
    raise_limit();
    std::env::set_current_dir("/").map_err(|error| cannot("enter", Path::new("/"), &error))
}

/// Raises the limit of open files. The inherited limit may be low, and each agent needs several
/// open files.
fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let possible = limit.maximum.map_or(OPEN_FILES_LIMIT, |maximum| maximum.min(OPEN_FILES_LIMIT));
    if limit.current.is_some_and(|current| current < possible) {
        // If the limit cannot be raised, the old one stays.
        let _raised = setrlimit(Resource::Nofile, Rlimit { current: Some(possible), ..limit });
    }
}

/// Reports the outcome of the start to the command that started this daemon, and releases the pipe
/// and the lock of that command. A failure is printed as JSON, but only if [`spawn_daemon`] reads
/// it. A person reads the error on standard error.
pub fn announce(outcome: &Result<()>, start_lock: &Path) -> Result<()> {
    let line = match outcome {
        Ok(()) => format!("{READY}\n"),
        Err(error) if has_start_lock(start_lock) => {
            format!("{FAILED}{}\n", serde_json::to_string(error).unwrap_or_default())
        }
        Err(_) => String::new(),
    };
    let mut stdout = io::stdout().lock();
    // An error means that the starting command died. The daemon still serves the next command.
    let _printed = stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush());
    drop(stdout);
    let replaced = File::options().read(true).write(true).open("/dev/null").and_then(|null| {
        rustix::stdio::dup2_stdout(&null)?;
        rustix::stdio::dup2_stdin(null)?;
        Ok(())
    });
    replaced.map_err(|error| cannot("use", Path::new("/dev/null"), &error))
}

/// Returns whether this daemon was started by [`spawn_daemon`], which shares its start lock as
/// standard input.
fn has_start_lock(start_lock: &Path) -> bool {
    let (Ok(stdin), Ok(lock)) = (rustix::fs::fstat(io::stdin()), rustix::fs::stat(start_lock))
    else {
        return false;
    };
    (stdin.st_dev, stdin.st_ino) == (lock.st_dev, lock.st_ino)
}

/// Returns whether the daemon inherits an environment variable. It does not inherit the variables
/// of an agent or of the user's shell.
fn is_inherited(name: &str) -> bool {
    const NAMES: [&str; 8] =
        ["HOME", "PATH", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SEGUE_HOME"];
    const PREFIXES: [&str; 3] = ["LC_", "XDG_", "SEGUE_FAILPOINT"];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn start(mut command: Command, stdin: Stdio, log: &Path, limit: Duration) -> Result<Ready> {
    let errors = open_log(log)?;
    command.stdin(stdin).stdout(Stdio::piped()).stderr(errors);
    failpoint::hit("daemon.spawn.before");
    let mut child = command
        .spawn()
        .map_err(|error| Error::unavailable("cannot start the daemon").caused_by(error))?;
    failpoint::hit("daemon.spawn.after");
    let pid = child.id();
    let printed = match child.stdout.take() {
        Some(stdout) => read_line_within(stdout, limit),
        None => Ok(Heard::Closed),
    };
    let failed = |error| Error::internal("cannot read the daemon's output").caused_by(error);
    match printed.map_err(failed)? {
        Heard::Line(line) if line == READY => Ok(Ready { pid }),
        Heard::Line(line) => Err(failure(&line, log)),
        Heard::Closed => Err(ended_without_line(child, log)),
        Heard::Timeout => {
            Err(Error::unavailable("the daemon is not ready yet").hint(log_hint(log)))
        }
    }
}

/// The result of waiting for the daemon's first line.
enum Heard {
    Line(String),
    /// The daemon closed its end of the pipe without a line.
    Closed,
    Timeout,
}

fn open_log(log: &Path) -> Result<File> {
    let failed = |error: io::Error| cannot("write", log, &error);
    if fs::metadata(log).is_ok_and(|metadata| metadata.len() > MAX_LOG_BYTES) {
        fs::rename(log, log.with_extension("log.old")).map_err(failed)?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(log).map_err(failed)
}

fn read_line_within(stdout: ChildStdout, limit: Duration) -> io::Result<Heard> {
    if !is_readable_within(&stdout, limit)? {
        return Ok(Heard::Timeout);
    }
    let mut line = String::new();
    BufReader::new(stdout.take(MAX_LINE_BYTES)).read_line(&mut line)?;
    Ok(line.strip_suffix('\n').map_or(Heard::Closed, |line| Heard::Line(line.to_owned())))
}

fn is_readable_within(stdout: &ChildStdout, limit: Duration) -> io::Result<bool> {
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    let ready = retry_on_intr(|| poll(&mut [PollFd::new(stdout, PollFlags::IN)], Some(&limit)));
    Ok(ready? > 0)
}

/// Parses the error that the daemon has printed.
fn failure(line: &str, log: &Path) -> Error {
    let error = line.strip_prefix(FAILED).and_then(|json| serde_json::from_str(json).ok());
    error.unwrap_or_else(|| {
        Error::unavailable("the daemon printed a line that cannot be parsed")
            .caused_by(line.escape_debug())
            .hint(log_hint(log))
    })
}

/// Returns the error for a daemon that ended without a line: its exit status and the end of its log.
fn ended_without_line(mut child: Child, log: &Path) -> Error {
    // The daemon has closed its end of the pipe and can never report that it is ready. Make sure
    // that it is gone.
    let _ended_already = child.kill();
    let how = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
    let error = Error::unavailable(format!("the daemon ended before it was ready: {how}"));
    let end = LocalFiles.tail(log, QUOTED_LOG_BYTES).unwrap_or_default();
    let end = String::from_utf8_lossy(&end);
    let error = match end.trim() {
        "" => error,
        end => error.caused_by(end),
    };
    error.hint(log_hint(log))
}

fn log_hint(log: &Path) -> String {
    format!("run `tail -n 50 {}` to see its log", quoted(log))
}

#[cfg(test)]
mod tests;
