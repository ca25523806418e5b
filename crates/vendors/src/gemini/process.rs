//! Finds Gemini's processes in `/proc`, because Gemini has no registry of its processes and its
//! processes keep no transcript open.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use segue_core::model::{Environment, ProcessRef, VendorSessionId};
use segue_core::ports::{Files, Live};

use super::{own_log, paths};

const PROCESSES: &str = "/proc";

/// How many bytes of a file in `/proc` are read.
const READ_LIMIT_BYTES: usize = 256 * 1024;

/// The unit of start times in `/proc`.
const TICKS_PER_SECOND: u64 = 100;

/// The minimum time between the start of a process and its first write.
const MIN_START_TIME: SignedDuration = SignedDuration::from_secs(1);

/// The flags that name the conversation of a process.
const CONVERSATION_FLAGS: [&str; 3] = ["--resume", "-r", "--session-id"];

/// Lists the processes whose command line names a conversation.
pub(super) fn live(files: &dyn Files, chats: &Path) -> Vec<Live> {
    let live_process =
        |pid| Some(Live { pid, started: None, id: current_conversation(files, chats, pid)? });
    let mut found: Vec<Live> = pids(files).into_iter().filter_map(live_process).collect();
    // Gemini starts itself again as a child process. The child writes the transcript and exits
    // last, so it comes first.
    found.sort_by_key(|live| Reverse(live.pid));
    found
}

fn pids(files: &dyn Files) -> Vec<u32> {
    let paths = files.list(Path::new(PROCESSES)).unwrap_or_default();
    paths.iter().filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect()
}

/// Returns the current conversation of a process: the last conversation that it began, or the
/// conversation on its command line.
pub(super) fn current_conversation(
    files: &dyn Files,
    chats: &Path,
    pid: u32,
) -> Option<VendorSessionId> {
    let named = conversation_on_command_line(files, pid)?;
    Some(own_log::last_begun(files, chats, &environment(files, pid)).unwrap_or(named))
}

/// Returns the environment with which a process was started.
pub(super) fn environment(files: &dyn Files, pid: u32) -> Environment {
    let bytes = files.head(&proc_file(pid, "environ"), READ_LIMIT_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let variables = text.split('\0').filter_map(|variable| variable.split_once('='));
    Environment::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
}

/// Returns the conversation on the command line of a Gemini process. `None` for other processes.
fn conversation_on_command_line(files: &dyn Files, pid: u32) -> Option<VendorSessionId> {
    let bytes = files.head(&proc_file(pid, "cmdline"), READ_LIMIT_BYTES).ok()?;
    conversation_in(&bytes)
}

fn conversation_in(command_line: &[u8]) -> Option<VendorSessionId> {
    let text = String::from_utf8_lossy(command_line);
    let arguments: Vec<&str> = text.split('\0').collect();
    let script = script_position(command_line)?;
    let mut arguments = arguments[script + 1..].iter();
    while let Some(argument) = arguments.next() {
        let value = match argument.split_once('=') {
            Some((flag, value)) if CONVERSATION_FLAGS.contains(&flag) => value,
            None if CONVERSATION_FLAGS.contains(argument) => arguments.next()?,
            _ => continue,
        };
        return paths::is_id(value).then(|| VendorSessionId::new(value));
    }
    None
}

/// Returns the position of Gemini's script in a command line. The interpreter and its flags come
/// first.
fn script_position(command_line: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(command_line);
    text.split('\0').take(6).position(is_gemini)
}

fn is_gemini(argument: &str) -> bool {
    let name = Path::new(argument).file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| matches!(name, "gemini" | "gemini.js"))
}

/// Returns the earliest time at which a process can have written to a file.
pub(super) fn first_write_time(files: &dyn Files, agent: &ProcessRef) -> Option<Timestamp> {
    let bytes = files.head(Path::new("/proc/stat"), READ_LIMIT_BYTES).ok()?;
    write_time(&String::from_utf8_lossy(&bytes), agent.started)
}

/// Returns the earliest time at which the oldest live Gemini process can have written to a file.
pub(super) fn oldest_write_time(files: &dyn Files) -> Option<Timestamp> {
    let bytes = files.head(Path::new("/proc/stat"), READ_LIMIT_BYTES).ok()?;
    let started = pids(files).into_iter().filter(|pid| {
        files
            .head(&proc_file(*pid, "cmdline"), READ_LIMIT_BYTES)
            .is_ok_and(|line| script_position(&line).is_some())
    });
    let oldest = started.filter_map(|pid| start_ticks(files, pid)).min()?;
    write_time(&String::from_utf8_lossy(&bytes), oldest)
}

/// Returns the start time of a process in clock ticks since boot: the 20th field after the name in
/// parentheses.
fn start_ticks(files: &dyn Files, pid: u32) -> Option<u64> {
    let bytes = files.head(&proc_file(pid, "stat"), READ_LIMIT_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Computes the earliest time at which a process can have written to a file, from its start time in
/// clock ticks and the boot time in `/proc/stat`.
fn write_time(proc_stat: &str, started: u64) -> Option<Timestamp> {
    let booted = proc_stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    let booted = Timestamp::from_second(booted.trim().parse().ok()?).ok()?;
    let offset_ms = i64::try_from(started.checked_mul(1000 / TICKS_PER_SECOND)?).ok()?;
    booted
        .checked_add(SignedDuration::from_millis(offset_ms))
        .ok()?
        .checked_add(MIN_START_TIME)
        .ok()
}

fn proc_file(pid: u32, file_name: &str) -> PathBuf {
    Path::new(PROCESSES).join(pid.to_string()).join(file_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";

    #[test]
    fn conversation_is_read_from_the_command_line_of_gemini() {
        let found = |arguments: &[&str]| {
            conversation_in(arguments.join("\0").as_bytes()).map(|id| id.to_string())
        };
        let joined_flag = format!("--resume={ID}");
        for arguments in [
            &["node", "/opt/bin/gemini", "--resume", ID, "-i", "x"][..],
            &[
                "/usr/bin/node",
                "--max-old-space-size=9",
                "/x/bundle/gemini.js",
                "-m",
                "m",
                &joined_flag,
            ],
            &["gemini", "--session-id", ID],
        ] {
            assert_eq!(found(arguments).as_deref(), Some(ID), "{arguments:?}");
        }
        for arguments in [
            &["vim", "/x/gemini.md", "--resume", ID][..],
            &["node", "/opt/bin/gemini", "--resume", "latest"],
            &["node", "/opt/bin/gemini"],
            &["node", "/opt/bin/gemini", "--resume"],
            &["node", "/opt/bin/other", "--resume", ID],
            &[],
        ] {
            assert_eq!(found(arguments), None, "{arguments:?}");
        }
    }

    #[test]
    fn earliest_write_is_computed_from_boot_time_and_clock_ticks() {
        let found = write_time("cpu 1 2\nbtime 1800000000\nprocesses 3\n", 1250).unwrap();
        assert_eq!(found.to_string(), "2027-01-15T08:00:13.5Z");
        assert_eq!(write_time("cpu 1 2\n", 1), None);
        assert_eq!(write_time("btime x\n", 1), None);
    }
}
