//! The log that a process of ours writes. It shows when a person began another conversation inside
//! the process.
//!
//! No other source shows that: a new transcript does not name its process, and no process keeps a
//! transcript open.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use segue_core::model::{Environment, VendorSessionId};
use segue_core::ports::{Files, Place};

use super::paths;
use crate::shared::reading;

/// Environment variable that names the file to which a process logs.
const VARIABLE: &str = "GEMINI_DEBUG_LOG_FILE";

/// Name of the log in the launch folder.
const NAME: &str = "gemini-log.txt";

/// Text that is logged right after a conversation was begun inside a process. A process also logs
/// it at its start, once for each folder that it may read.
const BEGAN: &[u8] = b"[MemoryDiscovery] Loading environment memory";

/// Maximum time between the beginning of a conversation and its line in the log.
const LATEST: SignedDuration = SignedDuration::from_secs(2);

/// How long a process logs such lines at its start.
const START: SignedDuration = SignedDuration::from_secs(1);

/// Environment variable that names the working folder of a process.
const FOLDER: &str = "PWD";

/// Makes a launch write a log of its own, unless its user has chosen another log file. Also sets
/// the working folder for `place`.
pub(super) fn tell(cwd: &Path, folder: &Path, environment: &mut Environment) {
    environment.set(FOLDER, cwd.to_string_lossy());
    let is_users = |path: &str| !path.is_empty() && !path.ends_with(NAME);
    if !environment.get(VARIABLE).is_some_and(is_users) {
        environment.set(VARIABLE, folder.join(NAME).to_string_lossy());
    }
}

/// Returns whether this is the log of a launch.
pub(super) fn is_one(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == NAME)
}

/// Returns the place of the conversations of the process with this environment.
pub(super) fn place(environment: &Environment) -> Option<Place> {
    let cwd = environment.get(FOLDER)?.into();
    Some(Place { config_dir: paths::config_dir(environment).ok()?, cwd })
}

/// Returns the conversation that the process with this environment began last. `None` if it began
/// none.
pub(super) fn begun(
    files: &dyn Files,
    chats: &Path,
    environment: &Environment,
) -> Option<VendorSessionId> {
    let log = environment.get(VARIABLE).map(Path::new).filter(|path| is_one(path))?;
    let begun = |at: &Timestamp| {
        let from = at.checked_sub(LATEST).ok()?;
        paths::begun_between(files, chats, (from, *at))
    };
    let noted = noted(files, log);
    // Other processes may begin conversations while this one starts. So lines from the start are
    // skipped.
    let started = noted.first()?.checked_add(START).ok()?;
    noted.iter().rev().filter(|at| **at > started).find_map(begun)
}

/// Returns the times of the lines that can mean that the process began a conversation.
fn noted(files: &dyn Files, log: &Path) -> Vec<Timestamp> {
    let mut found = Vec::new();
    let each = |line: &[u8]| {
        let is_one = line.windows(BEGAN.len()).any(|part| part == BEGAN);
        found.extend(is_one.then(|| at(line)).flatten());
    };
    // If the log cannot be read any further, the lines until then count.
    let _ended = reading::each_complete_line(files, log, 0, each);
    found
}

/// Parses the timestamp of a line such as `[2026-11-16T03:21:26.079Z] …`.
fn at(line: &[u8]) -> Option<Timestamp> {
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

    /// Makes a home with the conversation of a process's start, and the one that was begun inside.
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
        Environment::new([(VARIABLE.to_owned(), path.to_string_lossy().into_owned())])
    }

    fn begun_by(home: &Home, log: &str) -> Option<String> {
        let path = home.write(NAME, log);
        let chats = home.folder.path().join("chats");
        begun(&home.disk, &chats, &with_log(&path)).map(|id| id.to_string())
    }

    #[test]
    fn conversation_begun_inside_is_found_and_that_of_the_start_is_not() {
        let home = home();
        assert_eq!(begun_by(&home, LOG).as_deref(), Some(SECOND));
        let start: String =
            LOG.split_inclusive('\n').take_while(|it| !it.contains(":59.")).collect();
        assert_eq!(begun_by(&home, &start), None);
        assert_eq!(begun_by(&home, "garbage [MemoryDiscovery] Loading environment memory"), None);
    }

    #[test]
    fn log_of_another_name_or_no_log_yields_no_conversation() {
        let home = home();
        let path = home.write("users.txt", LOG);
        let chats = home.folder.path().join("chats");
        assert_eq!(begun(&home.disk, &chats, &with_log(&path)), None);
        assert_eq!(begun(&home.disk, &chats, &Environment::new(None)), None);
    }

    #[test]
    fn log_file_that_the_user_has_chosen_is_kept() {
        let told = |value: Option<&str>| {
            let pairs = value.map(|value| (VARIABLE.to_owned(), value.to_owned()));
            let mut environment = Environment::new(pairs);
            tell(Path::new("/code/a"), Path::new("/launch"), &mut environment);
            environment.set("HOME", "/home/u");
            let place = place(&environment).unwrap();
            assert_eq!(place.cwd, Path::new("/code/a"));
            assert_eq!(place.config_dir, Path::new("/home/u/.gemini"));
            environment.get(VARIABLE).unwrap().to_owned()
        };
        assert_eq!(told(None), format!("/launch/{NAME}"));
        assert_eq!(told(Some("")), format!("/launch/{NAME}"));
        assert_eq!(told(Some(&format!("/outer/{NAME}"))), format!("/launch/{NAME}"));
        assert_eq!(told(Some("/home/u/log")), "/home/u/log");
    }
}
