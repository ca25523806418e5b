//! Processes of this machine: which one it is, whose child, and how to end exactly that one.

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

pub(crate) use self::lineage::{Lineage, Member, lineage};
use self::stat::{Activity, Stat};
pub use self::stopped::{is_stopped, stopped_below};
use crate::descriptor::watched;

/// More than the kernel lets an environment be.
const LONGEST_ENVIRONMENT: usize = 8 << 20;
/// More than nearly every environment is long.
const ONE_READ: usize = 256 << 10;
/// More than the lines about a process's cgroups are long.
const LONGEST_TEXT: usize = 1 << 20;
/// As much of a command line as a person reads.
const LONGEST_COMMAND: usize = 4096;

/// Returns the process that has this number now; a zombie is nobody.
pub fn find(pid: u32) -> Option<ProcessRef> {
    let stat = Stat::read(pid).filter(Stat::is_alive)?;
    Some(ProcessRef { pid, started: stat.started, boot: boot()?.to_owned() })
}

/// Returns the PID namespace of this process, as the kernel names it.
pub(crate) fn namespace() -> Option<String> {
    fs::read_link("/proc/self/ns/pid").ok()?.into_os_string().into_string().ok()
}

/// Tells whether this very process still runs.
pub fn is_alive(process: &ProcessRef) -> bool {
    find(process.pid).as_ref() == Some(process)
}

/// Returns the parent's number; none for the first process and for one that is gone.
pub fn parent(pid: u32) -> Option<u32> {
    Stat::read(pid).map(|stat| stat.parent).filter(|parent| *parent != 0)
}

/// Returns the numbers of the live children.
pub fn children(pid: u32) -> Vec<u32> {
    table().into_iter().filter(|stat| stat.parent == pid).map(|stat| stat.pid).collect()
}

/// A child of this process: one that it started, or one that it adopted as a subreaper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnChild {
    pub(crate) process: ProcessRef,
    /// The session (`setsid`) that it is in.
    pub(crate) session: i32,
    /// False for a zombie, whose status nobody has taken.
    pub(crate) is_alive: bool,
}

/// Returns the children of this process, zombies included, without a look at every process.
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

/// Returns the numbers of all live descendants, parents before their children.
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

/// Returns the numbers of all processes that can be seen.
pub fn all() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Tells whether a process has a file open, as far as this user may know.
pub(crate) fn has_open(pid: u32, path: &Path) -> bool {
    // What a process has open is named by its real path, whatever links led there.
    let Ok(real) = fs::canonicalize(path) else { return false };
    open_files(pid).contains(&real)
}

/// Returns what a process has open, by its real path.
pub(crate) fn open_files(pid: u32) -> Vec<PathBuf> {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    descriptors.flatten().filter_map(|entry| fs::read_link(entry.path()).ok()).collect()
}

/// Returns the words of the command line, as far as a person would read it.
pub(crate) fn words(pid: u32) -> Vec<String> {
    let bytes = read_bounded(pid, "cmdline", LONGEST_COMMAND).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Returns the command line as one line for a person, without control characters.
pub fn command_line(pid: u32) -> Option<String> {
    let words: Vec<String> = words(pid).iter().map(|word| visible(word)).collect();
    if !words.is_empty() {
        return Some(words.join(" "));
    }
    let name = read_bounded(pid, "comm", LONGEST_COMMAND)?;
    Some(format!("[{}]", visible(String::from_utf8_lossy(&name).trim_end())))
}

/// Returns the value that a variable had when the process was started; none where that cannot be
/// read, as with the processes of other users.
pub fn variable(pid: u32, name: &str) -> Option<String> {
    value_in(&environment(pid)?, name)
}

/// Returns a text that the kernel has about a process.
pub(crate) fn read_text(pid: u32, file: &str) -> Option<String> {
    // Whatever it contains, it hides nothing that comes before or after.
    Some(String::from_utf8_lossy(&read_bounded(pid, file, LONGEST_TEXT)?).into_owned())
}

/// Returns the environment that a process was started with, as the kernel keeps it.
pub(crate) fn environment(pid: u32) -> Option<Vec<u8>> {
    let shown = read_bounded(pid, "environ", LONGEST_ENVIRONMENT)?;
    if shown.is_empty() && is_leaderless(pid) {
        return of_other_threads(pid);
    }
    Some(shown)
}

fn is_leaderless(pid: u32) -> bool {
    Stat::read(pid).is_some_and(|stat| stat.activity == Activity::Leaderless)
}

/// Returns the environment of a process whose first thread, and what it shows, is gone.
fn of_other_threads(pid: u32) -> Option<Vec<u8>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let mut shown = threads.filter_map(|thread| {
        let thread = thread.file_name().into_string().ok()?;
        read_bounded(pid, &format!("task/{thread}/environ"), LONGEST_ENVIRONMENT)
    });
    shown.find(|environment| !environment.is_empty())
}

/// Finds a variable in what [`environment`] returned.
pub(crate) fn value_in(environment: &[u8], name: &str) -> Option<String> {
    let value = environment
        .split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(value.to_vec()).ok()
}

/// What can be seen of a process's environment at one moment.
pub(crate) enum EnvironmentNow {
    Known(Vec<u8>),
    /// The process is being replaced by another program, and shows nothing.
    BetweenPrograms,
    /// It has none, is gone, or is not ours to look at.
    None,
}

/// Looks at a process's environment, and tells one that cannot be seen yet from one that is empty.
pub(crate) fn environment_now(pid: u32) -> EnvironmentNow {
    // It may be through with its replacement between our two looks, hence again.
    for _ in 0..5 {
        match environment(pid) {
            None => return EnvironmentNow::None,
            Some(environment) if environment.is_empty() => {}
            Some(environment) => return EnvironmentNow::Known(environment),
        }
        match Stat::read(pid) {
            Some(stat)
                if stat.kernel || !stat.is_alive() || stat.activity == Activity::Leaderless =>
            {
                return EnvironmentNow::None;
            }
            Some(stat) if stat.activity == Activity::Busy || shows_no_command(pid) => {
                return EnvironmentNow::BetweenPrograms;
            }
            Some(_) => {}
            None => return EnvironmentNow::None,
        }
    }
    EnvironmentNow::None
}

fn shows_no_command(pid: u32) -> bool {
    read_bounded(pid, "cmdline", 1).is_some_and(|line| line.is_empty())
}

/// One process, held so that its number cannot come to mean another one.
#[derive(Debug)]
pub struct ProcessHandle {
    pidfd: OwnedFd,
}

impl ProcessHandle {
    /// Takes hold of a process; `None` when it is gone.
    pub fn open(process: &ProcessRef) -> io::Result<Option<Self>> {
        let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) else {
            return Ok(None);
        };
        let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(Errno::SRCH) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // Whoever has the number after it was opened is whom it was opened for, or `process` had
        // gone before.
        Ok(is_alive(process).then_some(Self { pidfd }))
    }

    /// Sends a signal; tells whether the process was there to get it.
    pub fn signal(&self, signal: Signal) -> io::Result<bool> {
        match pidfd_send_signal(&self.pidfd, signal) {
            Ok(()) => Ok(true),
            Err(Errno::SRCH) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the process has ended.
    pub async fn gone(&self) -> io::Result<()> {
        // A descriptor of its own for each wait: one can be registered only once.
        let pidfd = watched(self.pidfd.try_clone()?, Interest::READABLE)?;
        let ready = pidfd.readable().await?;
        drop(ready);
        Ok(())
    }

    /// Waits until the process has ended, but not longer than this; tells whether it has.
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

/// Reads a file of a process, nearly always at one go: between two goes the process may have
/// become another program, and the rest of what it was before cannot be read any more.
fn read_bounded(pid: u32, file: &str, limit: usize) -> Option<Vec<u8>> {
    let file = File::open(format!("/proc/{pid}/{file}")).ok()?;
    let mut bytes = Vec::new();
    while bytes.len() < limit {
        bytes.reserve(ONE_READ.min(limit));
        let room = bytes.capacity() - bytes.len();
        match rustix::io::read(&file, spare_capacity(&mut bytes)) {
            // There was room for more, so there is no more.
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

    /// A child that ends when it is dropped, also when its test fails.
    struct Ends(Child);

    impl Drop for Ends {
        fn drop(&mut self) {
            let _gone_already = self.0.kill();
            let _status = self.0.wait();
        }
    }

    /// Starts it and waits until it runs: a child can be seen before it is the program.
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
    fn this_process_is_alive_and_a_later_one_with_its_number_is_another() {
        let me = find(std::process::id()).unwrap();
        assert!(is_alive(&me));
        assert!(!is_alive(&ProcessRef { started: me.started + 1, ..me.clone() }));
        assert!(!is_alive(&ProcessRef { boot: "another".into(), ..me }));
        assert_eq!(find(u32::MAX), None);
        assert_eq!(find(0), None);
    }

    #[test]
    fn a_child_is_found_with_its_command_and_its_mark() {
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
    fn a_zombie_is_nobody() {
        let mut child = cat(&[]);
        let process = find(child.0.id()).unwrap();
        let handle = ProcessHandle::open(&process).unwrap().unwrap();
        child.0.kill().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert!(runtime.block_on(handle.gone_within(Duration::from_secs(20))).unwrap());
        // Nobody has collected its status yet: the number is still taken.
        assert!(Stat::read(process.pid).is_some());
        assert_eq!(find(process.pid), None);
        assert!(!is_alive(&process));
        assert!(ProcessHandle::open(&process).unwrap().is_none());
    }

    #[test]
    fn a_process_without_an_environment_has_none() {
        // The kernel's own threads, and nobody at all.
        assert!(matches!(environment_now(2), EnvironmentNow::None));
        assert!(matches!(environment_now(u32::MAX), EnvironmentNow::None));
    }

    #[tokio::test]
    async fn a_signal_reaches_the_process_and_its_end_is_an_event() {
        let child = cat(&[]);
        let process = find(child.0.id()).unwrap();
        let handle = ProcessHandle::open(&process).unwrap().unwrap();
        assert!(!handle.gone_within(Duration::from_millis(1)).await.unwrap());
        assert!(handle.signal(Signal::TERM).unwrap());
        assert!(handle.gone_within(Duration::from_secs(20)).await.unwrap());
        assert!(handle.gone_within(Duration::from_secs(20)).await.unwrap());
    }

    #[test]
    fn the_number_of_another_process_cannot_be_opened() {
        let child = cat(&[]);
        let mut process = find(child.0.id()).unwrap();
        process.started += 1;
        assert!(ProcessHandle::open(&process).unwrap().is_none());
    }
}
