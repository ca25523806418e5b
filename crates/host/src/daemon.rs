//! Both sides of the daemon's start. The starting command waits for one line from the daemon, and
//! the daemon writes it when it is ready or has failed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
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
const READY_LIMIT: Duration = Duration::from_secs(60);
/// Maximum length of the line. No error is that long.
const LONGEST_LINE: u64 = 64 << 10;
/// A log file larger than this is renamed at the next start.
const LARGEST_LOG: u64 = 8 << 20;
/// How many bytes of the log an error quotes if the daemon died before it wrote its line.
const QUOTED_LOG: usize = 2000;
/// Limit of open files: enough for thousands of agents. Agents inherit this limit, and some
/// programs iterate up to it.
const ENOUGH_FILES: u64 = 65536;
/// The arguments that make this program the daemon.
const SUBCOMMAND: [&str; 2] = ["daemon", "run"];
const READY: &str = "ready";
const FAILED: &str = "error: ";

/// A daemon that is ready to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    pub pid: u32,
}

/// Starts a daemon and returns when it serves. Blocks the thread. The daemon shares the start lock
/// until then. If the caller dies meanwhile, no second daemon can be started.
pub fn spawn_daemon(
    paths: &Paths,
    environment: &Environment,
    starting: &FileLock,
) -> Result<Ready> {
    let [daemon, run] = SUBCOMMAND;
    let words = [this_program().into_os_string(), daemon.into(), run.into()];
    let mut command = without_inherited(&words);
    command.env_clear();
    command.envs(environment.iter().filter(|(name, _)| is_kept(name)));
    let lock = starting.share().map_err(|error| cannot("share", &paths.start_lock(), &error))?;
    start(command, lock.into(), &paths.log_file(), READY_LIMIT)
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
    let possible = limit.maximum.map_or(ENOUGH_FILES, |maximum| maximum.min(ENOUGH_FILES));
    if limit.current.is_some_and(|current| current < possible) {
        // If the limit cannot be raised, the old one stays.
        let _raised = setrlimit(Resource::Nofile, Rlimit { current: Some(possible), ..limit });
    }
}

/// Reports the outcome of the start to the command that started this daemon, and releases its pipe
/// and its lock. A failure is written as JSON, but only if [`spawn_daemon`] reads it: a person
/// reads the error on standard error.
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
    let _heard = stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush());
    drop(stdout);
    let nowhere = File::options().read(true).write(true).open("/dev/null").and_then(|nowhere| {
        rustix::stdio::dup2_stdout(&nowhere)?;
        rustix::stdio::dup2_stdin(nowhere)?;
        Ok(())
    });
    nowhere.map_err(|error| cannot("use", Path::new("/dev/null"), &error))
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

/// Returns whether the daemon inherits an environment variable. It does not need variables that
/// belong to an agent or to a shell of the user.
fn is_kept(name: &str) -> bool {
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
    let heard = match child.stdout.take() {
        Some(stdout) => hear(stdout, limit),
        None => Ok(Heard::Silence),
    };
    match heard.map_err(|error| Error::internal("cannot hear the daemon").caused_by(error))? {
        Heard::Line(line) if line == READY => Ok(Ready { pid }),
        Heard::Line(line) => Err(failure(&line, log)),
        Heard::Silence => Err(without_a_word(child, log)),
        Heard::NothingYet => Err(Error::unavailable("the daemon is not ready yet").hint(see(log))),
    }
}

/// The result of waiting for the daemon's first line.
enum Heard {
    Line(String),
    /// The daemon closed its end of the pipe without a line.
    Silence,
    NothingYet,
}

fn open_log(log: &Path) -> Result<File> {
    let failed = |error: io::Error| cannot("write", log, &error);
    if fs::metadata(log).is_ok_and(|facts| facts.len() > LARGEST_LOG) {
        fs::rename(log, log.with_extension("log.old")).map_err(failed)?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(log).map_err(failed)
}

fn hear(stdout: ChildStdout, limit: Duration) -> io::Result<Heard> {
    if !is_readable_within(&stdout, limit)? {
        return Ok(Heard::NothingYet);
    }
    let mut line = String::new();
    BufReader::new(stdout.take(LONGEST_LINE)).read_line(&mut line)?;
    Ok(line.strip_suffix('\n').map_or(Heard::Silence, |line| Heard::Line(line.to_owned())))
}

fn is_readable_within(stdout: &ChildStdout, limit: Duration) -> io::Result<bool> {
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    loop {
        match poll(&mut [PollFd::new(stdout, PollFlags::IN)], Some(&limit)) {
            Err(rustix::io::Errno::INTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

fn failure(line: &str, log: &Path) -> Error {
    let said = line.strip_prefix(FAILED).and_then(|json| serde_json::from_str(json).ok());
    said.unwrap_or_else(|| {
        Error::unavailable("the daemon said something that cannot be understood")
            .caused_by(line.escape_debug())
            .hint(see(log))
    })
}

/// Makes the error for a daemon that ended without a line: its exit status and the end of its log.
fn without_a_word(mut child: Child, log: &Path) -> Error {
    // The daemon has closed its end of the pipe and can never report that it serves. Make sure that
    // it is gone.
    let _ended_already = child.kill();
    let how = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
    let error = Error::unavailable(format!("the daemon ended before it was ready: {how}"));
    let end = LocalFiles.tail(log, QUOTED_LOG).unwrap_or_default();
    let end = String::from_utf8_lossy(&end);
    let error = match end.trim() {
        "" => error,
        end => error.caused_by(end),
    };
    error.hint(see(log))
}

fn see(log: &Path) -> String {
    format!("see what it says: `tail -n 50 {}`", quoted(log))
}

#[cfg(test)]
mod tests;
