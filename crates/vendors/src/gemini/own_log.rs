//! Reads the debug log of a Gemini process that Segue started. The log shows when the user began
//! another conversation inside the process.
//!
//! There is no other source: a new transcript does not name its process, and no process keeps its
//! transcript open.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use segue_core::model::{Environment, VendorSessionId};
use segue_core::ports::{Files, Place};

use super::paths;
use crate::shared::reading;

/// The environment variable that names the log file of a process.
const LOG_VARIABLE: &str = "GEMINI_DEBUG_LOG_FILE";

/// The name of the log file in the launch folder.
const LOG_NAME: &str = "gemini-log.txt";

/// The text that a process logs after it has begun a conversation. A process also logs it at its
/// start, once for each folder that it may read.
const BEGIN_MARKER: &[u8] = b"[MemoryDiscovery] Loading environment memory";

/// The maximum time between the start of a conversation and its line in the log.
const LOG_DELAY: SignedDuration = SignedDuration::from_secs(2);

/// How long a process logs `BEGIN_MARKER` at its start.
const START_DURATION: SignedDuration = SignedDuration::from_secs(1);

/// The environment variable that names the working folder of a process.
const CWD_VARIABLE: &str = "PWD";

/// Sets the log file of a launch, unless the user has set another log file. Also sets the working
/// folder, which `place` reads.
pub(super) fn set_up(cwd: &Path, folder: &Path, environment: &mut Environment) {
    environment.set(CWD_VARIABLE, cwd.to_string_lossy());
    let is_chosen_by_user = |path: &str| !path.is_empty() && !path.ends_with(LOG_NAME);
    if !environment.get(LOG_VARIABLE).is_some_and(is_chosen_by_user) {
        environment.set(LOG_VARIABLE, folder.join(LOG_NAME).to_string_lossy());
    }
}

/// Returns whether this is the path of a launch's log.
pub(super) fn is_log(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == LOG_NAME)
}

/// Returns the place of a process with this environment.
pub(super) fn place(environment: &Environment) -> Option<Place> {
    let cwd = environment.get(CWD_VARIABLE)?.into();
    Some(Place { config_dir: paths::config_dir(environment).ok()?, cwd })
}

/// Returns the last conversation that a process with this environment began after its start. `None`
/// if there is no such conversation.
pub(super) fn last_begun(
    files: &dyn Files,
    chats: &Path,
    environment: &Environment,
) -> Option<VendorSessionId> {
    let log = environment.get(LOG_VARIABLE).map(Path::new).filter(|path| is_log(path))?;
    let last_begun = |at: &Timestamp| {
        let from = at.checked_sub(LOG_DELAY).ok()?;
        paths::last_begun_between(files, chats, (from, *at))
    };
    let begin_times = begin_times(files, log);
    // Skips the lines from the start of the process: other processes may begin conversations at the
    // same time.
    let started = begin_times.first()?.checked_add(START_DURATION).ok()?;
    begin_times.iter().rev().filter(|at| **at > started).find_map(last_begun)
}

/// Returns the timestamps of the lines with `BEGIN_MARKER`.
fn begin_times(files: &dyn Files, log: &Path) -> Vec<Timestamp> {
    let mut found = Vec::new();
    let each = |line: &[u8]| {
        let has_marker = line.windows(BEGIN_MARKER.len()).any(|part| part == BEGIN_MARKER);
        found.extend(has_marker.then(|| timestamp_of(line)).flatten());
    };
    // After a read error, returns the timestamps that were read before.
    let _ended = reading::each_complete_line(files, log, 0, each);
    found
}

/// Parses the timestamp of a line such as `[2026-11-16T03:21:26.079Z] …`.
fn timestamp_of(line: &[u8]) -> Option<Timestamp> {
    let text = String::from_utf8_lossy(line.get(..64).unwrap_or(line)).into_owned();
    text.strip_prefix('[')?.split(']').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    const LOG: &str = include_str!("fixtures/own-log.txt");
    const FIRST: &str = "ae5d9f06-5781-47ae-9447-8358179ec014";
    const SECOND: &str = "7fd05c81-2d03-47d5-8840-98563a14803d";

    /// Returns a home with two conversations: one from the start of a process, and one that the
    /// user began inside the process.
    fn home() -> Home {
        let home = Home::new();
        for (id, at) in [(FIRST, "03:38:51.053"), (SECOND, "03:38:59.936")] {
            let name = format!("chats/session-2026-11-16T03-38-{}.jsonl", &id[..8]);
            let time = format!("2026-11-16T{at}Z");
            home.write(&name, format!(r#"{{"sessionId":"{id}","startTime":"{time}"}}"#));
        }
        home
    }

    fn with_log(path: &Path) -> Environment {
        Environment::new([(LOG_VARIABLE.to_owned(), path.to_string_lossy().into_owned())])
    }

    fn last_begun_by(home: &Home, log: &str) -> Option<String> {
        let path = home.write(LOG_NAME, log);
        let chats = home.folder.path().join("chats");
        last_begun(&home.disk, &chats, &with_log(&path)).map(|id| id.to_string())
    }

    #[test]
    fn last_begun_finds_the_conversation_that_was_begun_after_the_start() {
        let home = home();
        assert_eq!(last_begun_by(&home, LOG).as_deref(), Some(SECOND));
        let start: String =
            LOG.split_inclusive('\n').take_while(|line| !line.contains(":59.")).collect();
        assert_eq!(last_begun_by(&home, &start), None);
        assert_eq!(
            last_begun_by(&home, "garbage [MemoryDiscovery] Loading environment memory"),
            None
        );
    }

    #[test]
    fn last_begun_is_none_without_the_log_of_a_launch() {
        let home = home();
        let path = home.write("users.txt", LOG);
        let chats = home.folder.path().join("chats");
        assert_eq!(last_begun(&home.disk, &chats, &with_log(&path)), None);
        assert_eq!(last_begun(&home.disk, &chats, &Environment::new(None)), None);
    }

    #[test]
    fn set_up_keeps_the_log_file_of_the_user() {
        let log_after_set_up = |value: Option<&str>| {
            let pairs = value.map(|value| (LOG_VARIABLE.to_owned(), value.to_owned()));
            let mut environment = Environment::new(pairs);
            set_up(Path::new("/code/a"), Path::new("/launch"), &mut environment);
            environment.set("HOME", "/home/u");
            let place = place(&environment).unwrap();
            assert_eq!(place.cwd, Path::new("/code/a"));
            assert_eq!(place.config_dir, Path::new("/home/u/.gemini"));
            environment.get(LOG_VARIABLE).unwrap().to_owned()
        };
        assert_eq!(log_after_set_up(None), format!("/launch/{LOG_NAME}"));
        assert_eq!(log_after_set_up(Some("")), format!("/launch/{LOG_NAME}"));
        assert_eq!(
            log_after_set_up(Some(&format!("/outer/{LOG_NAME}"))),
            format!("/launch/{LOG_NAME}")
        );
        assert_eq!(log_after_set_up(Some("/home/u/log")), "/home/u/log");
    }
}
