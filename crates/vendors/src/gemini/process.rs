//! Finds the processes of Gemini in `/proc`: Gemini keeps no list of its processes, and its
//! processes keep no file open.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use segue_core::model::{Environment, ProcessRef, VendorSessionId};
use segue_core::ports::{Files, Live};

use super::{own_log, paths};

const PROCESSES: &str = "/proc";

/// Maximum number of bytes that are read of a command line or an environment.
const LARGEST: usize = 256 * 1024;

/// Clock ticks per second. Start times in `/proc` are counted in clock ticks.
const TICKS: u64 = 100;

/// A process that is younger than this has written nothing: it takes longer to start.
const EARLIEST: SignedDuration = SignedDuration::from_secs(1);

/// Flags that name the conversation of a process.
const NAMING: [&str; 3] = ["--resume", "-r", "--session-id"];

/// Lists the processes whose command line names a conversation.
pub(super) fn live(files: &dyn Files, chats: &Path) -> Vec<Live> {
    let of = |pid| Some(Live { pid, started: None, id: current(files, chats, pid)? });
    let mut found: Vec<Live> = pids(files).into_iter().filter_map(of).collect();
    // Gemini starts itself again as a second process. The younger process writes the transcript and
    // exits last, so it comes first.
    found.sort_by_key(|live| Reverse(live.pid));
    found
}

fn pids(files: &dyn Files) -> Vec<u32> {
    let paths = files.list(Path::new(PROCESSES)).unwrap_or_default();
    paths.iter().filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect()
}

/// Returns the conversation that a process is in: the one that it began last, or else the one on
/// its command line.
pub(super) fn current(files: &dyn Files, chats: &Path, pid: u32) -> Option<VendorSessionId> {
    let named = named_conversation(files, pid)?;
    Some(own_log::begun(files, chats, &environment(files, pid)).unwrap_or(named))
}

/// Returns the environment with which a process was started.
pub(super) fn environment(files: &dyn Files, pid: u32) -> Environment {
    let bytes = files.head(&about(pid, "environ"), LARGEST).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let variables = text.split('\0').filter_map(|variable| variable.split_once('='));
    Environment::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
}

/// Returns the conversation on the command line of a process, if the process is a Gemini.
fn named_conversation(files: &dyn Files, pid: u32) -> Option<VendorSessionId> {
    let bytes = files.head(&about(pid, "cmdline"), LARGEST).ok()?;
    conversation_in(&bytes)
}

fn conversation_in(command_line: &[u8]) -> Option<VendorSessionId> {
    let text = String::from_utf8_lossy(command_line);
    let words: Vec<&str> = text.split('\0').collect();
    let script = script_in(command_line)?;
    let mut words = words[script + 1..].iter();
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some((flag, value)) if NAMING.contains(&flag) => value,
            None if NAMING.contains(word) => words.next()?,
            _ => continue,
        };
        return paths::is_id(value).then(|| VendorSessionId::new(value));
    }
    None
}

/// Returns the position of Gemini in a command line. It is a script, so the interpreter and its
/// flags come first.
fn script_in(command_line: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(command_line);
    text.split('\0').take(6).position(is_gemini)
}

fn is_gemini(word: &str) -> bool {
    let name = Path::new(word).file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| matches!(name, "gemini" | "gemini.js"))
}

/// Returns the earliest time at which the process can have written something.
pub(super) fn writes_since(files: &dyn Files, agent: &ProcessRef) -> Option<Timestamp> {
    let bytes = files.head(Path::new("/proc/stat"), LARGEST).ok()?;
    since(&String::from_utf8_lossy(&bytes), agent.started)
}

/// Returns the earliest time at which the oldest live Gemini can have written something.
pub(super) fn oldest(files: &dyn Files) -> Option<Timestamp> {
    let bytes = files.head(Path::new("/proc/stat"), LARGEST).ok()?;
    let started = pids(files).into_iter().filter(|pid| {
        files.head(&about(*pid, "cmdline"), LARGEST).is_ok_and(|line| script_in(&line).is_some())
    });
    let oldest = started.filter_map(|pid| started_at(files, pid)).min()?;
    since(&String::from_utf8_lossy(&bytes), oldest)
}

/// Returns the clock ticks at which a process started: the 20th word after its name, which is in
/// parentheses.
fn started_at(files: &dyn Files, pid: u32) -> Option<u64> {
    let bytes = files.head(&about(pid, "stat"), LARGEST).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Returns the earliest time at which a process can have written something, given the clock ticks
/// at which it started. The kernel reports the boot time in whole seconds.
fn since(system: &str, started: u64) -> Option<Timestamp> {
    let booted = system.lines().find_map(|line| line.strip_prefix("btime "))?;
    let booted = Timestamp::from_second(booted.trim().parse().ok()?).ok()?;
    let after = i64::try_from(started.checked_mul(1000 / TICKS)?).ok()?;
    booted.checked_add(SignedDuration::from_millis(after)).ok()?.checked_add(EARLIEST).ok()
}

fn about(pid: u32, what: &str) -> PathBuf {
    Path::new(PROCESSES).join(pid.to_string()).join(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";

    #[test]
    fn conversation_is_read_from_the_command_line_of_gemini() {
        let named =
            |words: &[&str]| conversation_in(words.join("\0").as_bytes()).map(|id| id.to_string());
        let joined = format!("--resume={ID}");
        for words in [
            &["node", "/opt/bin/gemini", "--resume", ID, "-i", "x"][..],
            &["/usr/bin/node", "--max-old-space-size=9", "/x/bundle/gemini.js", "-m", "m", &joined],
            &["gemini", "--session-id", ID],
        ] {
            assert_eq!(named(words).as_deref(), Some(ID), "{words:?}");
        }
        for words in [
            &["vim", "/x/gemini.md", "--resume", ID][..],
            &["node", "/opt/bin/gemini", "--resume", "latest"],
            &["node", "/opt/bin/gemini"],
            &["node", "/opt/bin/gemini", "--resume"],
            &["node", "/opt/bin/other", "--resume", ID],
            &[],
        ] {
            assert_eq!(named(words), None, "{words:?}");
        }
    }

    #[test]
    fn earliest_write_is_computed_from_boot_time_and_clock_ticks() {
        let found = since("cpu 1 2\nbtime 1800000000\nprocesses 3\n", 1250).unwrap();
        assert_eq!(found.to_string(), "2027-01-15T08:00:13.5Z");
        assert_eq!(since("cpu 1 2\n", 1), None);
        assert_eq!(since("btime x\n", 1), None);
    }
}
