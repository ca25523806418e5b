//! A temporary config dir and working folder for each test, and the agent's processes.

use std::env;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::Value;
use tempfile::TempDir;

const TIMEOUT: Duration = Duration::from_secs(30);

/// A temporary config dir and a working folder.
pub(crate) struct Trial {
    pub(crate) home: TempDir,
    pub(crate) cwd: TempDir,
}

/// The output and the exit status of a headless turn.
pub(crate) struct TurnOutcome {
    pub(crate) lines: Vec<Value>,
    pub(crate) status: ExitStatus,
    pub(crate) errors: String,
}

impl TurnOutcome {
    pub(crate) fn of_type(&self, kind: &str) -> Vec<&Value> {
        self.lines.iter().filter(|line| line["type"] == kind).collect()
    }

    /// Returns the text of the result. Panics if the turn failed.
    pub(crate) fn answer(&self) -> &str {
        let result = self.of_type("result").pop().unwrap_or_else(|| panic!("{:?}", self.lines));
        assert_eq!(result["ok"], true, "{result}");
        assert_eq!(self.status.code(), Some(0));
        result["text"].as_str().unwrap()
    }
}

impl Trial {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), cwd: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(program());
        command.env_clear().env("HOME", "/nonexistent").env("SEGUE_DEMO_HOME", self.home.path());
        command.current_dir(self.cwd.path());
        command
    }

    /// Runs a headless turn to its end.
    pub(crate) fn turn(&self, arguments: &[&str]) -> TurnOutcome {
        run_headless(self.command().args(arguments))
    }

    /// Returns the live entries of running agents.
    pub(crate) fn live_entries(&self) -> Vec<Value> {
        read_all(&self.home.path().join("live")).iter().map(|(_, text)| parse_json(text)).collect()
    }

    /// Returns the records of a conversation.
    pub(crate) fn records(&self, id: &str) -> Vec<Value> {
        let name = format!("{id}.jsonl");
        let folders = fs::read_dir(self.home.path().join("conversations")).unwrap();
        let path = folders.map(|folder| folder.unwrap().path().join(&name)).next().unwrap();
        fs::read_to_string(path).unwrap().lines().map(parse_json).collect()
    }

    /// Returns how many conversations there are.
    pub(crate) fn conversation_count(&self) -> usize {
        let Ok(folders) = fs::read_dir(self.home.path().join("conversations")) else { return 0 };
        folders.map(|folder| read_all(&folder.unwrap().path()).len()).sum()
    }
}

/// Runs a headless turn to its end. Its output goes to files, because it can be larger than a pipe.
pub(crate) fn run_headless(command: &mut Command) -> TurnOutcome {
    let (mut output, mut errors) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    command.stdout(output.try_clone().unwrap()).stderr(errors.try_clone().unwrap());
    let status = TestProcess::start(command).wait_for_exit();
    let lines = read_back(&mut output);
    let lines = lines.lines().map(parse_json).collect();
    TurnOutcome { lines, status, errors: read_back(&mut errors) }
}

fn read_back(file: &mut File) -> String {
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

/// A process that the test spawned. It is killed when the test ends.
pub(crate) struct TestProcess {
    pub(crate) child: Child,
}

impl TestProcess {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self { child: command.spawn().unwrap() }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(pid(self.child.id()), signal).unwrap();
    }

    /// Waits until the process exits. Panics after a timeout.
    pub(crate) fn wait_for_exit(&mut self) -> ExitStatus {
        let process = pidfd_open(pid(self.child.id()), PidfdFlags::empty()).unwrap();
        assert!(is_ready(&process, Instant::now() + TIMEOUT), "the agent does not exit");
        self.child.wait().unwrap()
    }
}

impl Drop for TestProcess {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

/// A process that the agent spawned. It is killed when the test ends.
pub(crate) struct ForeignProcess {
    process: OwnedFd,
    pub(crate) pid: Pid,
}

impl ForeignProcess {
    pub(crate) fn find(process_id: u32) -> Self {
        let pid = pid(process_id);
        Self { process: pidfd_open(pid, PidfdFlags::empty()).unwrap(), pid }
    }
}

impl Drop for ForeignProcess {
    fn drop(&mut self) {
        rustix::process::pidfd_send_signal(&self.process, Signal::KILL).unwrap_or_default();
        is_ready(&self.process, Instant::now() + TIMEOUT);
    }
}

pub(crate) fn deadline() -> Instant {
    Instant::now() + TIMEOUT
}

/// Waits until the descriptor can be read. Returns `false` if the deadline has passed.
pub(crate) fn is_ready(fd: &impl AsFd, deadline: Instant) -> bool {
    let timeout = deadline.saturating_duration_since(Instant::now());
    let mut polled = [PollFd::new(fd, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::try_from(timeout).unwrap())).unwrap() > 0
}

fn pid(process_id: u32) -> Pid {
    Pid::from_raw(process_id.try_into().unwrap()).unwrap()
}

fn parse_json(text: impl AsRef<str>) -> Value {
    serde_json::from_str(text.as_ref()).unwrap()
}

fn read_all(folder: &Path) -> Vec<(PathBuf, String)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// Returns the path of the example program, which cargo builds together with the tests of this
/// crate.
fn program() -> PathBuf {
    let tests = env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("examples/demo-agent");
    assert!(program.exists(), "run `cargo build -p segue-vendors --example demo-agent` first");
    program
}
