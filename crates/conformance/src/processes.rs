//! Finds the processes of a test by the folder that their environment or command line names.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, test_kill_process};

use crate::expectation::expect;
use crate::wait::readable;
use crate::world::DEADLINE;

/// The process list is read at most this many times while a process is inside `execve`. `execve`
/// takes less time than that.
const MAX_PROCESS_LIST_READS: usize = 100;

/// Returns every live process whose environment or command line contains the path of this folder,
/// except this process.
pub fn mentioning(folder: &Path) -> Vec<u32> {
    let needle = folder.as_os_str().as_encoded_bytes();
    let own = std::process::id();
    for _ in 0..MAX_PROCESS_LIST_READS {
        let all: Vec<u32> = all().into_iter().filter(|pid| *pid != own).collect();
        let found: Vec<u32> = all.iter().copied().filter(|pid| mentions(*pid, needle)).collect();
        if !found.is_empty() || !all.into_iter().any(is_inside_execve) {
            return found;
        }
    }
    Vec::new()
}

/// Returns the command line of every process whose environment or command line contains this text,
/// except this process.
pub fn exposing(text: &str) -> Vec<String> {
    let own = std::process::id();
    let others = all().into_iter().filter(|pid| *pid != own);
    let found = others.filter(|pid| mentions(*pid, text.as_bytes()));
    found.map(|pid| command_line(pid).join(" ")).collect()
}

/// Kills all processes that `find` returns. They are stopped before the first is killed, so that
/// none of them notices the death of another.
pub fn kill_all(find: impl Fn() -> Vec<u32>) {
    loop {
        let mut stopped = BTreeSet::new();
        loop {
            let new: Vec<u32> = find().into_iter().filter(|pid| !stopped.contains(pid)).collect();
            if new.is_empty() {
                break;
            }
            new.iter().for_each(|pid| send(*pid, Signal::STOP));
            stopped.extend(new);
        }
        if stopped.is_empty() {
            return;
        }
        stopped.iter().for_each(|pid| kill(*pid));
        stopped.into_iter().for_each(wait_gone);
    }
}

/// Waits until a process has ended, whether or not its parent has collected its exit code.
pub fn wait_gone(pid: u32) {
    let Some(valid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    let handle = match pidfd_open(valid, PidfdFlags::empty()) {
        Err(Errno::SRCH) => return,
        handle => handle.expect("a process"),
    };
    let ended = readable(&[&handle], Instant::now() + DEADLINE);
    let command = command_line(pid).join(" ");
    expect(ended, format!("process {pid} ends"), || format!("it still runs: {command}"));
}

/// Returns the arguments of a process, its program first.
pub fn command_line(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Sends SIGKILL.
pub fn kill(pid: u32) {
    send(pid, Signal::KILL);
}

/// Sends a signal. It is no error if the process is gone.
pub fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _gone = kill_process(pid, signal);
    }
}

/// Returns whether a process runs. A zombie does not run.
pub fn is_alive(pid: u32) -> bool {
    let valid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    valid.is_some_and(|pid| test_kill_process(pid).is_ok()) && state(pid) != Some('Z')
}

/// Returns an environment variable of a process.
pub fn variable(pid: u32, name: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let prefix = format!("{name}=");
    let found =
        environment.split(|byte| *byte == 0).find(|it| it.starts_with(prefix.as_bytes()))?;
    Some(String::from_utf8_lossy(&found[prefix.len()..]).into_owned())
}

fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

fn mentions(pid: u32, needle: &[u8]) -> bool {
    let has = |file: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        bytes.windows(needle.len()).any(|window| window == needle)
    };
    (has("environ") || has("cmdline")) && state(pid) != Some('Z')
}

/// Returns whether a process is inside `execve`. Its environment and its command line are empty
/// then, like those of a kernel thread. Unlike a kernel thread, it has an executable.
fn is_inside_execve(pid: u32) -> bool {
    let is_empty = |file: &str| {
        fs::read(format!("/proc/{pid}/{file}")).is_ok_and(|content| content.is_empty())
    };
    is_empty("environ")
        && is_empty("cmdline")
        && fs::read_link(format!("/proc/{pid}/exe")).is_ok()
        && state(pid) != Some('Z')
}

fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}
