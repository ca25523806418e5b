//! Processes of this machine: their identity, relatives, open files and environments, and handles
//! to end exactly one of them.

mod environment;
mod lineage;
mod stat;
mod stopped;

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use segue_core::model::ProcessRef;
use tokio::io::Interest;

pub use self::environment::variable;
pub(crate) use self::environment::{EnvironmentNow, environment, environment_now, value_in};
pub(crate) use self::lineage::{Lineage, Member, lineage};
use self::stat::Stat;
pub use self::stopped::{is_stopped, stopped_below};
use crate::descriptor::watched;

/// The number of bytes of one read. Nearly every environment is smaller.
const READ_BYTES: usize = 256 << 10;
/// At most this many bytes of a text in `/proc` are read. The list of a process's cgroups is
/// shorter.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// At most this many bytes of a command line are read. A person reads no more.
const MAX_COMMAND_BYTES: usize = 4096;

/// Returns the process that has this id now. `None` if there is no such process or it is a zombie.
pub fn find(pid: u32) -> Option<ProcessRef> {
    let stat = Stat::read(pid).filter(Stat::is_alive)?;
    Some(ProcessRef { pid, started: stat.started, boot: boot()?.to_owned() })
}

/// Returns a child of this process, even if it has exited: its id stays taken until its exit status
/// is collected.
pub(crate) fn find_child(pid: u32) -> Option<ProcessRef> {
    let stat = Stat::read(pid)?;
    Some(ProcessRef { pid, started: stat.started, boot: boot()?.to_owned() })
}

/// Returns the PID namespace of this process, as the kernel names it.
pub(crate) fn namespace() -> Option<String> {
    fs::read_link("/proc/self/ns/pid").ok()?.into_os_string().into_string().ok()
}

/// Returns whether this process still runs. Another process with the same id does not count.
pub fn is_alive(process: &ProcessRef) -> bool {
    find(process.pid).as_ref() == Some(process)
}

/// Returns the id of the parent process. `None` for the first process and for a missing process.
pub fn parent(pid: u32) -> Option<u32> {
    Stat::read(pid).map(|stat| stat.parent).filter(|parent| *parent != 0)
}

/// Returns the ids of the live children.
pub fn children(pid: u32) -> Vec<u32> {
    table().into_iter().filter(|stat| stat.parent == pid).map(|stat| stat.pid).collect()
}

/// A child of this process, which it started or adopted as a subreaper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnChild {
    pub(crate) process: ProcessRef,
    /// The session (`setsid`) of the process.
    pub(crate) session: i32,
    /// `false` for a zombie, whose exit status has not been collected yet.
    pub(crate) is_alive: bool,
}

/// Returns the children of this process, including zombies, without reading all of `/proc`.
pub(crate) fn own_children() -> Vec<OwnChild> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let pids: Vec<u32> = lists
        .flat_map(|list| list.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|pid| pid.parse().ok())
        .collect();
    pids.into_iter().filter_map(own_child).collect()
}

fn own_child(pid: u32) -> Option<OwnChild> {
    let stat = Stat::read(pid).filter(|stat| stat.parent == std::process::id())?;
    let process = ProcessRef { pid, started: stat.started, boot: boot()?.to_owned() };
    Some(OwnChild { process, session: stat.session, is_alive: stat.is_alive() })
}

/// Returns the ids of all live descendants. Parents come before their children.
pub fn descendants(pid: u32) -> Vec<u32> {
    let table = table();
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(ancestor) = found.get(next).copied() {
        found.extend(table.iter().filter(|stat| stat.parent == ancestor).map(|stat| stat.pid));
        next += 1;
    }
    found.split_off(1)
}

/// Returns the ids of all processes that this process can see.
pub fn all() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns whether a process has a file open. `false` if this user may not see its open files.
pub(crate) fn has_open(pid: u32, path: &Path) -> bool {
    // The kernel reports open files by their real paths, so symlinks are resolved first.
    let Ok(real) = fs::canonicalize(path) else { return false };
    open_files(pid).contains(&real)
}

/// Returns the real paths of the files that a process has open.
pub(crate) fn open_files(pid: u32) -> Vec<PathBuf> {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    descriptors.flatten().filter_map(|entry| fs::read_link(entry.path()).ok()).collect()
}

/// Returns the words of the command line, up to the length that a person would read.
pub(crate) fn words(pid: u32) -> Vec<String> {
    let bytes = read_bounded(pid, "cmdline", MAX_COMMAND_BYTES).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Returns the command line as one line for a person, without control characters.
pub fn command_line(pid: u32) -> Option<String> {
    let words: Vec<String> = words(pid).iter().map(|word| visible(word)).collect();
    if !words.is_empty() {
        return Some(words.join(" "));
    }
    let name = read_bounded(pid, "comm", MAX_COMMAND_BYTES)?;
    Some(format!("[{}]", visible(String::from_utf8_lossy(&name).trim_end())))
}

/// Returns the text of a file in `/proc/<pid>`. `None` if it cannot be read.
pub(crate) fn read_text(pid: u32, file: &str) -> Option<String> {
    // Invalid UTF-8 is replaced, so that it cannot hide the text before or after it.
    Some(String::from_utf8_lossy(&read_bounded(pid, file, MAX_TEXT_BYTES)?).into_owned())
}

/// A handle (pidfd) of one process. It never refers to another process, even if the process id is
/// reused.
#[derive(Debug)]
pub struct ProcessHandle {
    pidfd: OwnedFd,
}

impl ProcessHandle {
    /// Opens a handle of a process. `None` if the process has exited.
    pub fn open(process: &ProcessRef) -> io::Result<Option<Self>> {
        let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) else {
            return Ok(None);
        };
        let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(Errno::SRCH) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // If `process` is alive now, its id was not reused before the pidfd was opened. So the
        // pidfd refers to `process`.
        Ok(is_alive(process).then_some(Self { pidfd }))
    }

    /// Sends a signal. Returns `false` if the process has exited.
    pub fn signal(&self, signal: Signal) -> io::Result<bool> {
        match pidfd_send_signal(&self.pidfd, signal) {
            Ok(()) => Ok(true),
            Err(Errno::SRCH) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the process has exited.
    pub async fn gone(&self) -> io::Result<()> {
        // Each wait uses its own descriptor, because a descriptor can be registered only once.
        let pidfd = watched(self.pidfd.try_clone()?, Interest::READABLE)?;
        let ready = pidfd.readable().await?;
        drop(ready);
        Ok(())
    }

    /// Waits at most `limit` until the process has exited. Returns whether it has.
    pub async fn gone_within(&self, limit: Duration) -> io::Result<bool> {
        match tokio::time::timeout(limit, self.gone()).await {
            Ok(gone) => gone.map(|()| true),
            Err(_) => Ok(false),
        }
    }
}

fn table() -> Vec<Stat> {
    all().into_iter().filter_map(Stat::read).filter(Stat::is_alive).collect()
}

fn boot() -> Option<&'static str> {
    static BOOT: OnceLock<Option<String>> = OnceLock::new();
    let boot = BOOT.get_or_init(|| {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(id.trim().to_owned())
    });
    boot.as_deref()
}

/// Reads a file of a process, nearly always with a single read. Between two reads the process may
/// call `execve`, and then the rest of the old content is lost.
fn read_bounded(pid: u32, file: &str, limit: usize) -> Option<Vec<u8>> {
    let file = File::open(format!("/proc/{pid}/{file}")).ok()?;
    let mut bytes = Vec::new();
    while bytes.len() < limit {
        bytes.reserve(READ_BYTES.min(limit));
        let room = bytes.capacity() - bytes.len();
        match rustix::io::read(&file, spare_capacity(&mut bytes)) {
            // The read did not fill the buffer, so this is the end of the file.
            Ok(count) if count < room => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    Some(bytes)
}

fn visible(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A child that is killed on drop, even if its test fails.
    struct Ends(Child);

    impl Drop for Ends {
        fn drop(&mut self) {
            let _gone_already = self.0.kill();
            let _status = self.0.wait();
        }
    }

    /// Starts a command and waits until it answers. A child is visible before it has called
    /// `execve`.
    fn started(command: &mut Command) -> Ends {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut child = Ends(child);
        child.0.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        child.0.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        child
    }

    fn cat(arguments: &[&str]) -> Ends {
        let mut command = Command::new("cat");
        command.args(arguments).env("SEGUE_LAUNCH", "abc").env("XSEGUE_LAUNCH", "no");
        started(&mut command)
    }

    #[test]
    fn process_is_identified_by_its_id_start_time_and_boot() {
        let me = find(std::process::id()).unwrap();
        assert!(is_alive(&me));
        assert!(!is_alive(&ProcessRef { started: me.started + 1, ..me.clone() }));
        assert!(!is_alive(&ProcessRef { boot: "another".into(), ..me }));
        assert_eq!(find(u32::MAX), None);
        assert_eq!(find(0), None);
    }

    #[test]
    fn child_is_found_with_its_command_line_and_environment() {
        let child = cat(&["-", "u\u{1b}[31m"]);
        let pid = child.0.id();
        assert_eq!(parent(pid), Some(std::process::id()));
        assert!(children(std::process::id()).contains(&pid));
        assert!(descendants(std::process::id()).contains(&pid));
        assert_eq!(descendants(pid), Vec::<u32>::new());
        assert_eq!(command_line(pid).unwrap(), "cat - u[31m");
        assert_eq!(variable(pid, "SEGUE_LAUNCH").unwrap(), "abc");
        assert_eq!(variable(pid, "SEGUE"), None);
        assert!(matches!(environment_now(pid), EnvironmentNow::Known(_)));
    }

    #[test]
    fn zombie_counts_as_gone() {
        let mut child = cat(&[]);
        let process = find(child.0.id()).unwrap();
        let handle = ProcessHandle::open(&process).unwrap().unwrap();
        child.0.kill().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert!(runtime.block_on(handle.gone_within(Duration::from_secs(20))).unwrap());
        // Its exit status has not been collected yet, so the process id is still in use.
        assert!(Stat::read(process.pid).is_some());
        assert_eq!(find(process.pid), None);
        assert!(!is_alive(&process));
        assert!(ProcessHandle::open(&process).unwrap().is_none());
    }

    #[tokio::test]
    async fn signal_ends_the_process_and_gone_within_reports_it() {
        let child = cat(&[]);
        let process = find(child.0.id()).unwrap();
        let handle = ProcessHandle::open(&process).unwrap().unwrap();
        assert!(!handle.gone_within(Duration::from_millis(1)).await.unwrap());
        assert!(handle.signal(Signal::TERM).unwrap());
        assert!(handle.gone_within(Duration::from_secs(20)).await.unwrap());
        assert!(handle.gone_within(Duration::from_secs(20)).await.unwrap());
    }

    #[test]
    fn open_refuses_a_reused_process_id() {
        let child = cat(&[]);
        let mut process = find(child.0.id()).unwrap();
        process.started += 1;
        assert!(ProcessHandle::open(&process).unwrap().is_none());
    }
}
