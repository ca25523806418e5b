//! Both sides of a daemon's start: who starts it waits for one line, and it says that line.

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
use crate::inherited::without_inherited;
use crate::lock::FileLock;
use crate::paths::Paths;
use crate::programs::this_program;

/// How long a daemon may take to be ready; it may have a large store to migrate.
const READY_LIMIT: Duration = Duration::from_secs(60);
/// More than any error is long.
const LONGEST_LINE: u64 = 64 << 10;
/// A log larger than this is put aside at the next start.
const LARGEST_LOG: u64 = 8 << 20;
/// How much of the log is quoted when the daemon died without a word.
const QUOTED_LOG: usize = 2000;
/// More than thousands of agents take; agents get this limit too, and some programs count up to it.
const ENOUGH_FILES: u64 = 65536;
/// The words after the program's name that make it the daemon.
const SUBCOMMAND: [&str; 2] = ["daemon", "run"];
const READY: &str = "ready";
const FAILED: &str = "error: ";

/// A daemon that serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    pub pid: u32,
}

/// Starts a daemon and returns when it serves. It blocks its thread. The daemon shares the start
/// lock until then, so that nobody starts a second one if the caller dies meanwhile.
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

/// Tells whether these are the words of a daemon's command line.
pub(crate) fn is_daemon(words: &[String]) -> bool {
    words.get(1..).is_some_and(|words| words == SUBCOMMAND)
}

/// Leaves the terminal and the folder of whoever started this process.
pub fn become_daemon() -> Result<()> {
    match rustix::process::setsid() {
        // Somebody started it as the leader of a job, on purpose: then it stays in their session.
        Ok(_) | Err(rustix::io::Errno::PERM) => {}
        Err(error) => return Err(Error::internal("cannot leave the terminal").caused_by(error)),
    }
    raise_limit();
    std::env::set_current_dir("/").map_err(|error| cannot("enter", Path::new("/"), &error))
}

/// Lets this process have enough files open: whoever started it may have had few agents in mind,
/// and each one takes some.
fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let possible = limit.maximum.map_or(ENOUGH_FILES, |maximum| maximum.min(ENOUGH_FILES));
    if limit.current.is_some_and(|current| current < possible) {
        // Where it cannot be raised the old one goes on.
        let _raised = setrlimit(Resource::Nofile, Rlimit { current: Some(possible), ..limit });
    }
}

/// Reports the outcome of the start to the command that started this daemon, and releases its pipe
/// and its lock. A failure is written as JSON for [`spawn_daemon`] alone: a person reads about it on
/// standard error.
pub fn announce(outcome: &Result<()>, start_lock: &Path) -> Result<()> {
    let line = match outcome {
        Ok(()) => format!("{READY}\n"),
        Err(error) if has_start_lock(start_lock) => {
            format!("{FAILED}{}\n", serde_json::to_string(error).unwrap_or_default())
        }
        Err(_) => String::new(),
    };
    let mut stdout = io::stdout().lock();
    // Nobody listens any more: they died, and the daemon is there for the next one.
    let _heard = stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush());
    drop(stdout);
    let nowhere = File::options().read(true).write(true).open("/dev/null").and_then(|nowhere| {
        rustix::stdio::dup2_stdout(&nowhere)?;
        rustix::stdio::dup2_stdin(nowhere)?;
        Ok(())
    });
    nowhere.map_err(|error| cannot("use", Path::new("/dev/null"), &error))
}

/// Tells whether this daemon was started by [`spawn_daemon`], which shares its start lock as standard
/// input.
fn has_start_lock(start_lock: &Path) -> bool {
    let (Ok(stdin), Ok(lock)) = (rustix::fs::fstat(io::stdin()), rustix::fs::stat(start_lock))
    else {
        return false;
    };
    (stdin.st_dev, stdin.st_ino) == (lock.st_dev, lock.st_ino)
}

/// Tells whether a daemon gets a variable: it has no use for what belongs to an agent or a person.
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

/// What a daemon said at its start.
enum Heard {
    Line(String),
    /// It closed its end of the pipe without a line.
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

/// Words the death of a daemon: how it ended, and the last that its log says.
fn without_a_word(mut child: Child, log: &Path) -> Error {
    // Without its end of the pipe it cannot say any more that it serves: it must not linger.
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
