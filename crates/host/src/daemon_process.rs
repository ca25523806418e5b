//! Finds and examines the process of a daemon without a request to it. The daemon may be stopped or
//! hang.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use crate::process;

/// Whether a process can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Running,
    /// Stopped by a signal such as SIGSTOP, or by a debugger.
    Stopped,
    Gone,
}

/// Returns the process that holds a lock on a file, according to the kernel. `None` if no process
/// holds one, or if this process cannot see the holder.
pub fn lock_holder(path: &Path) -> Option<u32> {
    let inode = fs::metadata(path).ok()?.ino();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // The device number is not compared, because some file systems report a different one there.
    let candidates = locks.lines().filter_map(|line| holder_of(line, inode));
    candidates.into_iter().find(|pid| process::has_open(*pid, path))
}

/// Returns the process id in a line such as `1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF` if the
/// line is about this inode. Returns `None` for the line of a waiting process, which has an arrow.
fn holder_of(line: &str, inode: u64) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, _, pid, place, ..] = words.as_slice() else { return None };
    let (_, number) = place.rsplit_once(':')?;
    (number.parse() == Ok(inode)).then(|| pid.parse().ok())?
}

/// Returns whether a process can run.
pub fn condition(pid: u32) -> Condition {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    match state.and_then(|state| state.trim_start().chars().next()) {
        None | Some('Z' | 'X' | 'x') => Condition::Gone,
        Some('T' | 't') => Condition::Stopped,
        Some(_) => Condition::Running,
    }
}

/// Returns the total time that the threads of a process have run or waited for a processor. `None`
/// if the kernel does not report it. The time grows only while the process has work to do.
pub fn processor_demand(pid: u32) -> Option<Duration> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let paths = threads.flatten().map(|thread| thread.path().join("schedstat"));
    let demands = paths.filter_map(|path| demand_in(&fs::read_to_string(path).ok()?));
    demands.reduce(|sum, demand| sum + demand)
}

/// Parses a line such as `4711000 815000 42`: nanoseconds on a processor, nanoseconds in the queue
/// for one, and a count.
fn demand_in(line: &str) -> Option<Duration> {
    let mut words = line.split_whitespace().map(|word| word.parse().ok());
    let (ran, waited): (u64, u64) = (words.next()??, words.next()??);
    Some(Duration::from_nanos(ran.saturating_add(waited)))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
    use tempfile::TempDir;

    use super::*;
    use crate::lock::FileLock;

    #[test]
    fn lock_line_names_the_holder_but_not_a_waiting_process() {
        let held = "1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF";
        assert_eq!(holder_of(held, 131), Some(4711));
        assert_eq!(holder_of(held, 31), None);
        assert_eq!(holder_of("1: -> FLOCK  ADVISORY  WRITE 4712 08:01:131 0 EOF", 131), None);
        assert_eq!(holder_of("2: POSIX  ADVISORY  WRITE 4711 08:01:131 0 EOF", 131), None);
        assert_eq!(holder_of("", 131), None);
    }

    #[test]
    fn lock_holder_finds_the_lock_of_this_process() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("lock");
        assert_eq!(lock_holder(&path), None);
        let lock = FileLock::try_acquire(&path).unwrap().unwrap();
        assert_eq!(lock_holder(&path), Some(std::process::id()));
        drop(lock);
        assert_eq!(lock_holder(&path), None);
    }

    #[test]
    fn demand_for_a_processor_is_run_time_and_time_in_the_queue() {
        assert_eq!(demand_in("4711000 815000 42\n"), Some(Duration::from_nanos(5_526_000)));
        assert_eq!(demand_in("4711000"), None);
        assert_eq!(demand_in("many few 1"), None);
    }

    #[test]
    fn demand_for_a_processor_grows_while_a_process_has_work() {
        let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let before = processor_demand(child.id()).unwrap();
        while processor_demand(child.id()).unwrap() < before + Duration::from_millis(20) {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(processor_demand(child.id()), None);
    }

    #[test]
    fn condition_distinguishes_running_stopped_and_gone_processes() {
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
