//! The log that a process of ours writes: it tells when a person began another conversation inside.
//!
//! Nothing else does: a new transcript does not say whose it is, and no process keeps one open.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use segue_core::model::{Environment, VendorSessionId};
use segue_core::ports::{Files, Place};

use super::home;
use crate::lines;

/// Names the file into which a process writes what it does.
const VARIABLE: &str = "GEMINI_DEBUG_LOG_FILE";

/// The log's name in the launch's folder.
const NAME: &str = "gemini-log.txt";

/// What is noted right after a conversation was begun inside. At its start a process notes it, too,
/// once for each folder that it may look into.
const BEGAN: &[u8] = b"[MemoryDiscovery] Loading environment memory";

/// How long after the beginning it is noted at the latest.
const LATEST: SignedDuration = SignedDuration::from_secs(2);

/// How long the notes of a start take.
const START: SignedDuration = SignedDuration::from_secs(1);

/// Names the folder that a process works in.
const FOLDER: &str = "PWD";

/// Has a launch write a log of its own, unless its user wants one elsewhere.
pub(super) fn tell(cwd: &Path, folder: &Path, environment: &mut Environment) {
    environment.set(FOLDER, cwd.to_string_lossy());
    let is_users = |path: &str| !path.is_empty() && !path.ends_with(NAME);
    if !environment.get(VARIABLE).is_some_and(is_users) {
        environment.set(VARIABLE, folder.join(NAME).to_string_lossy());
    }
}

/// Tells whether this is a log of a launch.
pub(super) fn is_one(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == NAME)
}

/// Returns where the conversations of the process with this environment are.
pub(super) fn place(environment: &Environment) -> Option<Place> {
    let cwd = environment.get(FOLDER)?.into();
    Some(Place { config_dir: home::config_dir(environment).ok()?, cwd })
}

/// Returns the conversation that the process with this environment began last, if any.
pub(super) fn begun(
    files: &dyn Files,
    chats: &Path,
    environment: &Environment,
) -> Option<VendorSessionId> {
    let log = environment.get(VARIABLE).map(Path::new).filter(|path| is_one(path))?;
    let begun = |at: &Timestamp| {
        let from = at.checked_sub(LATEST).ok()?;
        home::begun_between(files, chats, (from, *at))
    };
    let noted = noted(files, log);
    // Others that begin at the same moment as this one are none of its conversations.
    let started = noted.first()?.checked_add(START).ok()?;
    noted.iter().rev().filter(|at| **at > started).find_map(begun)
}

/// Returns when the process noted that it began something.
fn noted(files: &dyn Files, log: &Path) -> Vec<Timestamp> {
    let mut found = Vec::new();
    let each = |line: &[u8]| {
        let is_one = line.windows(BEGAN.len()).any(|part| part == BEGAN);
        found.extend(is_one.then(|| at(line)).flatten());
    };
    // What cannot be read any more tells nothing more.
    let _ended = lines::each_from(files, log, 0, each);
    found
}

/// Reads `[2026-11-16T03:21:26.079Z] …`.
fn at(line: &[u8]) -> Option<Timestamp> {
    let text = String::from_utf8_lossy(line.get(..64).unwrap_or(line)).into_owned();
    text.strip_prefix('[')?.split(']').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Home;

    const LOG: &str = include_str!("fixtures/own-log.txt");
    const FIRST: &str = "ae5d9f06-5781-47ae-9447-8358179ec014";
    const SECOND: &str = "7fd05c81-2d03-47d5-8840-98563a14803d";

    /// A home with the conversation of a process's start, and the one that was begun inside.
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
    fn what_was_begun_inside_is_found_and_what_was_begun_at_the_start_is_not() {
        let home = home();
        assert_eq!(begun_by(&home, LOG).as_deref(), Some(SECOND));
        let start: String =
            LOG.split_inclusive('\n').take_while(|it| !it.contains(":59.")).collect();
        assert_eq!(begun_by(&home, &start), None);
        assert_eq!(begun_by(&home, "garbage [MemoryDiscovery] Loading environment memory"), None);
    }

    #[test]
    fn a_log_that_is_not_ours_tells_nothing() {
        let home = home();
        let path = home.write("users.txt", LOG);
        let chats = home.folder.path().join("chats");
        assert_eq!(begun(&home.disk, &chats, &with_log(&path)), None);
        assert_eq!(begun(&home.disk, &chats, &Environment::new(None)), None);
    }

    #[test]
    fn a_log_that_the_user_wants_is_left_alone() {
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
