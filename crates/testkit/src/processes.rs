//! Processes of a test, found by the folder that their environment or command line names.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Returns every live process that mentions this folder, but not this one.
pub fn mentioning(folder: &Path) -> Vec<u32> {
    let needle = folder.as_os_str().as_encoded_bytes();
    let own = std::process::id();
    all().into_iter().filter(|pid| *pid != own && mentions(*pid, needle)).collect()
}

/// Sends SIGKILL to all that `find` finds, until it finds none.
pub fn kill_all(find: impl Fn() -> Vec<u32>) {
    loop {
        let found = find();
        if found.is_empty() {
            return;
        }
        found.into_iter().for_each(kill);
    }
}

/// Sends SIGKILL.
pub fn kill(pid: u32) {
    send(pid, Signal::KILL);
}

/// Sends a signal; a process that is gone already is no error.
pub fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _gone = kill_process(pid, signal);
    }
}

/// Tells whether a process runs; a zombie does not.
pub fn is_alive(pid: u32) -> bool {
    let there = i32::try_from(pid).ok().and_then(Pid::from_raw);
    there.is_some_and(|pid| test_kill_process(pid).is_ok()) && state(pid) != Some('Z')
}

/// Returns a variable of a process's environment.
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

fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}
