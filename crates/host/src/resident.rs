//! The process of a daemon, found without its help: it may be stopped, or hang.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::process;

/// Whether a process gets to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Running,
    /// By a signal such as SIGSTOP, or by a debugger.
    Stopped,
    Gone,
}

/// Returns the process that has a lock on a file, as the kernel lists it; `None` if no process has
/// one, or only one that this process cannot see.
pub fn lock_holder(path: &Path) -> Option<u32> {
    let inode = fs::metadata(path).ok()?.ino();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // The number of the device is not compared: some file systems show another one there.
    let candidates = locks.lines().filter_map(|line| holder_of(line, inode));
    candidates.into_iter().find(|pid| process::has_open(*pid, path))
}

/// Returns the process in a line such as `1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF` if that
/// is about this inode. A line about a process that waits has an arrow in it.
fn holder_of(line: &str, inode: u64) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, _, pid, place, ..] = words.as_slice() else { return None };
    let (_, number) = place.rsplit_once(':')?;
    (number.parse() == Ok(inode)).then(|| pid.parse().ok())?
}

/// Returns whether a process gets to run.
pub fn condition(pid: u32) -> Condition {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    match state.and_then(|state| state.trim_start().chars().next()) {
        None | Some('Z' | 'X' | 'x') => Condition::Gone,
        Some('T' | 't') => Condition::Stopped,
        Some(_) => Condition::Running,
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
    use tempfile::TempDir;

    use super::*;
    use crate::lock::FileLock;

    #[test]
    fn the_process_that_has_a_lock_is_named_and_one_that_waits_for_it_is_not() {
        let held = "1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF";
        assert_eq!(holder_of(held, 131), Some(4711));
        assert_eq!(holder_of(held, 31), None);
        assert_eq!(holder_of("1: -> FLOCK  ADVISORY  WRITE 4712 08:01:131 0 EOF", 131), None);
        assert_eq!(holder_of("2: POSIX  ADVISORY  WRITE 4711 08:01:131 0 EOF", 131), None);
        assert_eq!(holder_of("", 131), None);
    }

    #[test]
    fn the_lock_of_this_process_is_found() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("lock");
        assert_eq!(lock_holder(&path), None);
        let lock = FileLock::try_acquire(&path).unwrap().unwrap();
        assert_eq!(lock_holder(&path), Some(std::process::id()));
        drop(lock);
        assert_eq!(lock_holder(&path), None);
    }

    #[test]
    fn a_stopped_process_is_told_from_one_that_runs_and_one_that_is_gone() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let number = child.id();
        let pid = Pid::from_child(&child);
        assert_eq!(condition(number), Condition::Running);
        kill_process(pid, Signal::STOP).unwrap();
        waitpid(Some(pid), WaitOptions::UNTRACED).unwrap();
        assert_eq!(condition(number), Condition::Stopped);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(condition(number), Condition::Gone);
    }
}
