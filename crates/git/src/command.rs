//! One run of the git program: no shell, bounded output, a time limit.
//!
//! The process has its own process group. It is ended with SIGTERM first, so that git removes its
//! lock files, and with SIGKILL after [`GRACE`]. That also happens if the caller drops the future.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use segue_core::model::Environment;
use segue_core::ports::GitProgress;
use segue_core::{Error, Result};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use crate::failure::{git_failed, git_stopped};
use crate::lock::{RepositoryLock, RunningFlag};
use crate::streams::{self, Captured, GitStopped, StreamLimits};

/// How long git may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(5);
/// Maximum length of the output of a command that has no limit of its own.
const LONGEST_OUTPUT_BYTES: usize = 256 << 20;

/// How long a command may take.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimeLimit {
    Total(Duration),
    /// The time without any progress. A command that waits for the network has no other limit.
    Silence(Duration),
}

impl TimeLimit {
    /// For commands that work on this machine alone.
    pub(crate) const LOCAL: Self = Self::Total(Duration::from_mins(30));
    /// For commands that only read.
    pub(crate) const READING: Self = Self::Total(Duration::from_mins(5));
    /// For commands that use the network.
    pub(crate) const NETWORK: Self = Self::Silence(Duration::from_mins(10));

    /// Returns why a command that exceeded this limit was ended.
    fn reason(self) -> String {
        match self {
            Self::Total(limit) => format!("it took longer than {} seconds", limit.as_secs()),
            Self::Silence(limit) => format!("it made no progress for {} seconds", limit.as_secs()),
        }
    }
}

/// The standard input of a command.
#[derive(Debug)]
enum Input {
    Nothing,
    Bytes(Vec<u8>),
    Lock(File, RunningFlag),
}

/// A git command to run.
#[derive(Debug)]
pub(crate) struct GitCommand {
    program: PathBuf,
    folder: PathBuf,
    /// The path that errors name.
    about: PathBuf,
    /// Options of git itself, which come before the command.
    options: Vec<OsString>,
    arguments: Vec<OsString>,
    environment: Environment,
    paths: Vec<(&'static str, PathBuf)>,
    input: Input,
    limit: TimeLimit,
    longest_output: usize,
    progress: GitProgress,
}

/// The result of a command with any exit code.
#[derive(Debug)]
pub(crate) struct GitOutput {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    /// Whether the output was longer than its limit.
    pub(crate) is_cut: bool,
    pub(crate) stderr: String,
}

impl GitCommand {
    pub(crate) fn new(program: &Path, folder: &Path, environment: Environment) -> Self {
        Self {
            program: program.to_owned(),
            folder: folder.to_owned(),
            about: folder.to_owned(),
            options: Vec::new(),
            arguments: Vec::new(),
            environment,
            paths: Vec::new(),
            input: Input::Nothing,
            limit: TimeLimit::READING,
            longest_output: LONGEST_OUTPUT_BYTES,
            progress: GitProgress::default(),
        }
    }

    /// Adds an option of git itself, such as `--git-dir=…`.
    pub(crate) fn option(mut self, option: impl Into<OsString>) -> Self {
        self.options.push(option.into());
        self
    }

    /// Adds a setting for this command alone.
    pub(crate) fn setting(self, setting: &str) -> Self {
        self.option("-c").option(setting)
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = A>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.set(name, value);
        self
    }

    /// Sets a variable to a path, which need not be UTF-8.
    pub(crate) fn path_variable(mut self, name: &'static str, path: &Path) -> Self {
        self.paths.push((name, path.to_owned()));
        self
    }

    /// Adds a path as an argument that git cannot take for an option. Errors name this path.
    pub(crate) fn path(mut self, path: &Path) -> Self {
        self.about = path.to_owned();
        self.arg("--").arg(path)
    }

    /// Changes the folder in which the command runs.
    pub(crate) fn start_in(mut self, folder: &Path) -> Self {
        self.folder = folder.to_owned();
        self.about = folder.to_owned();
        self
    }

    pub(crate) fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = Input::Bytes(bytes);
        self
    }

    /// Passes the lock on to git, which then holds it until it ends.
    pub(crate) fn holding(mut self, lock: &RepositoryLock) -> Result<Self> {
        let (file, running) = lock.share()?;
        self.input = Input::Lock(file, running);
        Ok(self)
    }

    pub(crate) fn limit(mut self, limit: TimeLimit) -> Self {
        self.limit = limit;
        self
    }

    pub(crate) fn at_most(mut self, bytes: usize) -> Self {
        self.longest_output = bytes;
        self
    }

    pub(crate) fn progress(mut self, progress: &GitProgress) -> Self {
        self.progress = progress.clone();
        self
    }

    /// Runs the command and returns its output. A non-zero exit code is an error.
    pub(crate) async fn run(self) -> Result<Vec<u8>> {
        let (name, about, longest) = (self.name(), self.about.clone(), self.longest_output);
        let output = self.output().await?;
        match (output.is_cut, output.status.success()) {
            (true, _) => Err(too_long(&name, longest)),
            (false, true) => Ok(output.stdout),
            (false, false) => Err(git_failed(&name, &about, output.status, &output.stderr)),
        }
    }

    /// Runs the command and returns its output. A warning is an error, too.
    pub(crate) async fn run_without_warnings(self) -> Result<Vec<u8>> {
        let (name, about, longest) = (self.name(), self.about.clone(), self.longest_output);
        let output = self.output().await?;
        let is_warned = output.stderr.lines().any(|line| !line.starts_with("hint:"));
        let is_complete = output.status.success() && !is_warned;
        match (output.is_cut, is_complete) {
            (true, _) => Err(too_long(&name, longest)),
            (false, true) => Ok(output.stdout),
            (false, false) => Err(git_failed(&name, &about, output.status, &output.stderr)),
        }
    }

    /// Runs the command and returns at most `bytes` bytes of its output, and whether it was cut.
    pub(crate) async fn run_at_most(self, bytes: usize) -> Result<(Vec<u8>, bool)> {
        let (name, about) = (self.name(), self.about.clone());
        let output = self.at_most(bytes).output().await?;
        // Git ends by a signal if its output is cut.
        match output.is_cut || output.status.success() {
            true => Ok((output.stdout, output.is_cut)),
            false => Err(git_failed(&name, &about, output.status, &output.stderr)),
        }
    }

    /// Runs the command and returns its output in one line of text.
    pub(crate) async fn line(self) -> Result<String> {
        let stdout = self.run().await?;
        Ok(String::from_utf8_lossy(&stdout).trim_end_matches('\n').to_owned())
    }

    /// Runs the command. Fails only if git cannot be started or takes too long.
    pub(crate) async fn output(mut self) -> Result<GitOutput> {
        let input = std::mem::replace(&mut self.input, Input::Nothing);
        let child = self.spawn(&input)?;
        let (bytes, flag) = match input {
            Input::Nothing => (Vec::new(), None),
            Input::Bytes(bytes) => (bytes, None),
            Input::Lock(_, flag) => (Vec::new(), Some(flag)),
        };
        let before = flag.as_ref().map(RunningFlag::begin);
        // The task outlives this future, so that it can end the process of a dropped future.
        let (dropped, is_dropped) = oneshot::channel();
        let running = tokio::spawn(supervise(self, child, bytes, is_dropped));
        let output = running.await;
        drop(dropped);
        let lost = |error| Error::internal("the task of a git command failed").caused_by(error);
        let output = output.map_err(lost)??;
        // A git that was killed by a signal has not removed its lock files.
        if let (Some(flag), Some(before), Some(_)) = (flag, before, output.status.code()) {
            flag.end(before);
        }
        Ok(output)
    }

    fn spawn(&self, input: &Input) -> Result<Child> {
        let stdin = match input {
            Input::Nothing => Stdio::null(),
            Input::Bytes(_) => Stdio::piped(),
            Input::Lock(file, _) => {
                file.try_clone().map(Stdio::from).map_err(|it| self.unstarted(it))?
            }
        };
        Command::new(&self.program)
            .args(&self.options)
            .args(&self.arguments)
            .current_dir(&self.folder)
            .env_clear()
            .envs(self.environment.iter())
            .envs(self.paths.iter().map(|(name, path)| (name, path)))
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| self.unstarted(error))
    }

    fn unstarted(&self, error: io::Error) -> Error {
        let program = self.program.display();
        let folder = self.folder.display();
        Error::unavailable(format!("cannot start `{program}` in `{folder}`")).caused_by(error)
    }

    fn stopped(&self, stopped: &GitStopped, stderr: &str) -> Error {
        let why = match stopped {
            GitStopped::Silent => self.limit.reason(),
            GitStopped::Failed(error) => format!("its output cannot be read: {error}"),
        };
        git_stopped(&self.name(), &self.folder, &why, stderr)
    }

    /// Returns the command without its arguments, such as `worktree add`.
    fn name(&self) -> String {
        let is_word =
            |text: &&str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        let words = self.arguments.iter().filter_map(|it| it.to_str()).take_while(is_word);
        let words: Vec<&str> = words.filter(|it| !it.starts_with('-')).take(2).collect();
        words.join(" ")
    }
}

fn too_long(command: &str, longest: usize) -> Error {
    Error::unavailable(format!("`git {command}` printed more than {longest} bytes"))
}

/// Feeds a process, reads its output, and waits for its end.
async fn supervise(
    command: GitCommand,
    mut child: Child,
    input: Vec<u8>,
    is_dropped: oneshot::Receiver<()>,
) -> Result<GitOutput> {
    let group = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    let (total, silence) = match command.limit {
        TimeLimit::Total(limit) => (limit, None),
        TimeLimit::Silence(limit) => (Duration::MAX, Some(limit)),
    };
    let limits = StreamLimits { stdout_bytes: command.longest_output, silence };
    let mut captured = Captured::default();
    let running = streams::exchange(&mut child, input, limits, &command.progress, &mut captured);
    let ended = tokio::select! {
        ended = tokio::time::timeout(total, running) => ended.unwrap_or(Err(GitStopped::Silent)),
        // The channel has no messages: it closes when the caller drops its future.
        _closed = is_dropped => Err(GitStopped::Silent),
    };
    match ended {
        Ok(status) => {
            let stderr = captured.stderr();
            Ok(GitOutput { status, is_cut: captured.is_cut, stdout: captured.stdout, stderr })
        }
        Err(stopped) => {
            end(&mut child, group).await;
            Err(command.stopped(&stopped, &captured.stderr()))
        }
    }
}

/// Ends a process and everything in its group.
async fn end(child: &mut Child, group: Option<Pid>) {
    let signal = |signal| {
        if let Some(group) = group {
            // A group without processes has nothing to end.
            let _gone = kill_process_group(group, signal);
        }
    };
    signal(Signal::TERM);
    let is_gone = tokio::time::timeout(GRACE, child.wait()).await.is_ok();
    // Also for hooks that ignore SIGTERM and outlive git.
    signal(Signal::KILL);
    if !is_gone && let Err(error) = child.wait().await {
        tracing::warn!(%error, "a git process could not be waited for");
    }
}

#[cfg(test)]
mod tests;
