//! The paths of Codex's files: the config dir, locks and rollouts.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use segue_core::model::{Environment, VendorSessionId};
use segue_core::ports::{Files, Place};
use segue_core::{Error, Result};
use uuid::Uuid;

pub(super) use crate::shared::ids::{created_at, is_uuid as is_id};

use crate::shared::{config_dir, files, transcripts};

/// Environment variable that names the config dir. If it is set, the folder must exist.
const CONFIG_DIR_VARIABLE: &str = "CODEX_HOME";

const LOCKS: &str = "thread-writer-locks";
const SESSIONS: &str = "sessions";
const ARCHIVED: &str = "archived_sessions";

/// Environment variables that Codex sets for its tools. A Codex that inherits them believes that it
/// runs inside another Codex.
const NESTED_VARIABLES: [&str; 9] = [
    "CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS",
    "CODEX_CI",
    "CODEX_MANAGED_BY_NPM",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_TOOL_CALL_ID",
    "CODEX_VERSION",
];

/// Returns the config dir, given an agent's environment.
pub(super) fn config_dir(environment: &Environment) -> Result<PathBuf> {
    let set = |name| config_dir::set(environment, name);
    match (set(CONFIG_DIR_VARIABLE), set("HOME")) {
        (Some(home), _) => check_named_dir(Path::new(home)),
        (None, Some(user)) if Path::new(user).is_absolute() => Ok(Path::new(user).join(".codex")),
        (None, _) => Err(config_dir::unknown("Codex", CONFIG_DIR_VARIABLE)),
    }
}

fn check_named_dir(home: &Path) -> Result<PathBuf> {
    let reason = match (home.is_absolute(), home.is_dir()) {
        (true, true) => return Ok(home.to_owned()),
        (false, _) => "it is not an absolute path",
        (true, false) => "there is no such folder, and Codex does not create it",
    };
    Err(Error::config(format!("`{}` cannot be the folder of Codex's files", home.display()))
        .caused_by(format!("`{CONFIG_DIR_VARIABLE}` names it: {reason}"))
        .hint(format!("run `mkdir -p '{}'`, or unset `{CONFIG_DIR_VARIABLE}`", home.display())))
}

pub(super) fn prepare_environment(place: &Place, environment: &mut Environment) {
    environment.retain(|name| !NESTED_VARIABLES.contains(&name));
    // The folder exists, because the conversation's rollout is in it before Codex starts.
    environment.set(CONFIG_DIR_VARIABLE, place.config_dir.to_string_lossy());
}

/// Returns the folder with one lock file for each conversation that a process has open.
pub(super) fn locks(config_dir: &Path) -> PathBuf {
    config_dir.join(LOCKS)
}

/// Returns the lock file of a conversation. A process that has the conversation open also holds
/// this file open.
pub(super) fn lock(config_dir: &Path, id: &str) -> PathBuf {
    locks(config_dir).join(format!("{id}.lock"))
}

/// Returns the config dir if this path is in its folder of locks.
pub(super) fn config_dir_of_lock(path: &Path) -> Option<&Path> {
    let folder = path.parent().filter(|folder| folder.ends_with(LOCKS))?;
    folder.parent()
}

/// Returns the id of a lock file's conversation.
pub(super) fn id_of_lock(path: &Path) -> Option<Uuid> {
    let name = path.file_name()?.to_str()?;
    Uuid::parse_str(name.strip_suffix(".lock")?).ok()
}

/// Returns the config dir and the conversation's id if this is the path of a rollout.
pub(super) fn config_dir_and_id_of_rollout(path: &Path) -> Option<(&Path, Uuid)> {
    let id = id_of_rollout(path)?;
    let sessions = path.ancestors().nth(4).filter(|folder| folder.ends_with(SESSIONS))?;
    Some((sessions.parent()?, id))
}

/// Returns the conversation's id in the name of a rollout. A rolled-back conversation continues in
/// another rollout, whose name has an id of its own after the conversation's id.
pub(super) fn id_of_rollout(path: &Path) -> Option<Uuid> {
    let stem = stem_of_rollout(path)?;
    last_id(stem.split_once('_').map_or(stem, |(conversation, _)| conversation))
}

/// Returns the id by which other rollouts refer to this one: the last id in its name.
fn own_id_of_rollout(path: &Path) -> Option<Uuid> {
    last_id(stem_of_rollout(path)?)
}

fn stem_of_rollout(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_prefix("rollout-")?.strip_suffix(".jsonl")
}

fn last_id(stem: &str) -> Option<Uuid> {
    Uuid::parse_str(stem.get(stem.len().checked_sub(36)?..)?).ok()
}

/// Finds the rollout that another rollout refers to by this id. Searches the folder of the other
/// rollout first, and then Codex's folders.
pub(super) fn rollout_with_own_id(files: &dyn Files, beside: &Path, id: Uuid) -> Option<PathBuf> {
    let has_id = |path: &PathBuf| own_id_of_rollout(path) == Some(id);
    let in_folder = |folder: &Path| files.list(folder).unwrap_or_default().into_iter().find(has_id);
    let config_dir = || beside.ancestors().find(|folder| folder.ends_with(SESSIONS))?.parent();
    let in_days_around_its_creation = |config_dir: &Path| {
        let created = created_at(&id.to_string())?;
        days_around(config_dir, created).iter().find_map(|day| in_folder(day))
    };
    in_folder(beside.parent()?).or_else(|| in_days_around_its_creation(config_dir()?)).or_else(
        || {
            let listed = rollouts(files, config_dir()?).find(has_id);
            listed.or_else(|| in_folder(&config_dir()?.join(ARCHIVED)))
        },
    )
}

/// Returns the path of a rollout that Segue prepares. The path depends only on the id.
pub(super) fn prepared(config_dir: &Path, id: &str) -> PathBuf {
    let created = created_at(id).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::UTC);
    let name = format!("rollout-{}-{id}.jsonl", created.strftime("%Y-%m-%dT%H-%M-%S"));
    day(config_dir, created.date()).join(name)
}

fn day(config_dir: &Path, date: Date) -> PathBuf {
    config_dir.join(SESSIONS).join(date.strftime("%Y/%m/%d").to_string())
}

/// Returns the folders in which Codex may store a conversation that begins now. Codex uses the
/// local date, which can be the day before or after the date in UTC.
pub(super) fn days_around(config_dir: &Path, now: Timestamp) -> Vec<PathBuf> {
    let today = Zoned::new(now, TimeZone::UTC).date();
    let dates = [today.yesterday(), Ok(today), today.tomorrow()];
    dates.into_iter().flatten().map(|date| day(config_dir, date)).collect()
}

/// Returns the path of a conversation's rollout: the path that Segue prepares, or else the path
/// that Codex has chosen by its local time. The file may be missing.
pub(super) fn rollout(files: &dyn Files, config_dir: &Path, id: &VendorSessionId) -> PathBuf {
    let prepared = prepared(config_dir, id.as_str());
    let Ok(uuid) = Uuid::parse_str(id.as_str()) else { return prepared };
    let is_own = |path: &PathBuf| id_of_rollout(path) == Some(uuid);
    let first = if files::exists(files, &prepared) {
        prepared
    } else {
        let days = created_at(id.as_str()).map(|created| days_around(config_dir, created));
        let mut all = days.iter().flatten().flat_map(|day| files.list(day).unwrap_or_default());
        let Some(first) = all.find(is_own) else { return prepared };
        first
    };
    if !is_numbered(files, &first) {
        return first;
    }
    // Only a conversation with ordinals can be rolled back. It then continues in another rollout.
    rollouts(files, config_dir).find(is_own).unwrap_or(first)
}

/// Returns whether the lines of a rollout have ordinals, according to the beginning of its first
/// line.
fn is_numbered(files: &dyn Files, rollout: &Path) -> bool {
    let beginning = files.head(rollout, 80).unwrap_or_default();
    memchr::memmem::find(&beginning, b"\"ordinal\":").is_some()
}

/// Returns the newest rollout of each conversation, the newest first and at most `limit`.
pub(super) fn newest_rollouts(files: &dyn Files, config_dir: &Path, limit: usize) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let is_new = |path: &PathBuf| seen.insert(id_of_rollout(path));
    rollouts(files, config_dir).filter(is_new).take(limit).collect()
}

/// Lists all rollouts, the newest first.
fn rollouts(files: &dyn Files, config_dir: &Path) -> impl Iterator<Item = PathBuf> {
    let mut folders = vec![config_dir.join(SESSIONS)];
    for _level in ["year", "month", "day"] {
        folders = folders.iter().flat_map(|folder| paths_in(files, folder)).collect();
    }
    let all = folders.into_iter().flat_map(move |folder| paths_in(files, &folder));
    all.filter(|path| id_of_rollout(path).is_some())
}

/// Lists the paths in a folder, the newest first.
fn paths_in(files: &dyn Files, folder: &Path) -> Vec<PathBuf> {
    transcripts::last_name_first(files.list(folder).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use segue_core::Kind;

    use super::*;
    use crate::testing::{Home, environment};

    const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";

    #[test]
    fn config_dir_is_codex_home_or_the_default_folder() {
        let home = Home::new();
        let named = home.folder.path().to_str().unwrap();
        let found = config_dir(&environment(&[(CONFIG_DIR_VARIABLE, named), ("HOME", "/home/u")]));
        assert_eq!(found.unwrap(), home.folder.path());
        for variables in
            [vec![("HOME", "/home/u")], vec![(CONFIG_DIR_VARIABLE, ""), ("HOME", "/home/u")]]
        {
            let found = config_dir(&environment(&variables)).unwrap();
            assert_eq!(found, Path::new("/home/u/.codex"));
        }
    }

    #[test]
    fn missing_or_relative_config_dir_is_a_configuration_error() {
        for variables in [
            vec![(CONFIG_DIR_VARIABLE, "/no/such/folder"), ("HOME", "/home/u")],
            vec![(CONFIG_DIR_VARIABLE, "relative"), ("HOME", "/home/u")],
            vec![("HOME", "relative")],
            vec![],
        ] {
            let error = config_dir(&environment(&variables)).unwrap_err();
            assert_eq!(error.kind, Kind::Config, "{variables:?}");
            assert!(!error.hints.is_empty(), "{variables:?}");
        }
    }

    #[test]
    fn environment_names_the_recorded_folder_and_no_outer_session() {
        let place = Place { config_dir: "/recorded".into(), cwd: "/code".into() };
        let mut found = environment(&[
            (CONFIG_DIR_VARIABLE, "/elsewhere"),
            ("HOME", "/home/u"),
            ("CODEX_THREAD_ID", ID),
            ("CODEX_SANDBOX_NETWORK_DISABLED", "1"),
            ("CODEX_API_KEY", "k"),
        ]);
        prepare_environment(&place, &mut found);
        assert_eq!(found.names(), ["CODEX_API_KEY", CONFIG_DIR_VARIABLE, "HOME"]);
        assert_eq!(found.get(CONFIG_DIR_VARIABLE), Some("/recorded"));
    }

    #[test]
    fn path_of_a_prepared_rollout_depends_only_on_its_id() {
        let path = prepared(Path::new("/c"), ID);
        let name = format!("/c/sessions/2026/11/16/rollout-2026-11-16T00-14-30-{ID}.jsonl");
        assert_eq!(path, Path::new(&name));
        assert_eq!(
            config_dir_and_id_of_rollout(&path),
            Some((Path::new("/c"), Uuid::parse_str(ID).unwrap()))
        );
    }

    #[test]
    fn rollout_named_by_codex_is_found_on_the_days_around_its_date() {
        let home = Home::new();
        let id = VendorSessionId::new(ID);
        let config_dir = home.folder.path();
        assert_eq!(rollout(&home.disk, config_dir, &id), prepared(config_dir, ID), "no file yet");
        let name = format!("sessions/2026/11/15/rollout-2026-11-15T19-14-30-{ID}.jsonl");
        let own = home.write(&name, "{}");
        home.write("sessions/2026/11/15/rollout-2026-11-15T19-14-30-other.jsonl", "{}");
        assert_eq!(rollout(&home.disk, config_dir, &id), own);
    }

    #[test]
    fn rolled_back_conversation_is_in_its_newest_rollout() {
        let home = Home::new();
        let (id, config_dir) = (VendorSessionId::new(ID), home.folder.path());
        let numbered = r#"{"timestamp":"2026-11-16T00:14:30.161Z","ordinal":0,"type":"x"}"#;
        let first = home.write(prepared(config_dir, ID).to_str().unwrap(), numbered);
        assert_eq!(rollout(&home.disk, config_dir, &id), first);
        let other = "01a1e314-01ed-7c00-99ec-6209a75b8c75";
        let name = |second, part| {
            format!("sessions/2026/12/24/rollout-2026-12-24T00-00-0{second}-{ID}_{part}.jsonl")
        };
        home.write(&name(1, other), numbered);
        let newest = home.write(&name(2, "01a1e314-00fd-7c73-91b9-fe04260172d4"), numbered);
        home.write(&format!("sessions/2027/01/01/rollout-2027-01-01T00-00-00-{other}.jsonl"), "");
        assert_eq!(rollout(&home.disk, config_dir, &id), newest);
        assert_eq!(
            config_dir_and_id_of_rollout(&newest),
            Some((config_dir, Uuid::parse_str(ID).unwrap()))
        );
        assert_eq!(newest_rollouts(&home.disk, config_dir, 9).len(), 2, "each once");
        home.write(prepared(config_dir, ID).to_str().unwrap(), "{}");
        assert_eq!(rollout(&home.disk, config_dir, &id), first, "no ordinals, no rollback");
    }

    #[test]
    fn paths_and_ids_of_other_forms_are_no_rollouts_or_locks() {
        for path in [
            "/c/sessions/2026/11/16/rollout-x.jsonl",
            "/c/sessions/2026/11/16/notes.txt",
            "/c/elsewhere/2026/11/16/rollout-2026-11-16T00-14-30-01a1e1b4-9591-7600-96ed-7294b417ca9a.jsonl",
            "/",
        ] {
            assert_eq!(config_dir_and_id_of_rollout(Path::new(path)), None, "{path}");
        }
        let lock = lock(Path::new("/c"), ID);
        assert_eq!(config_dir_of_lock(&lock), Some(Path::new("/c")));
        assert_eq!(id_of_lock(&lock), Some(Uuid::parse_str(ID).unwrap()));
        assert_eq!(id_of_lock(Path::new("/c/thread-writer-locks/.coordination.lock")), None);
        assert_eq!(config_dir_of_lock(Path::new("/c/config.toml")), None);
        for no_id in ["", "../../etc/passwd", "my-name", "01a1e1b495917600-96ed-7294b417ca9a"] {
            assert!(!is_id(no_id), "{no_id}");
        }
    }

    #[test]
    fn newest_rollouts_returns_the_newest_first_up_to_the_limit() {
        let home = Home::new();
        let write = |day: &str, number: u32| {
            let id = format!("01a1e1b4-9591-7600-96ed-{number:012}");
            home.write(&format!("sessions/{day}/rollout-2026-01-01T00-00-0{number}-{id}.jsonl"), "")
        };
        let (old, new) = (write("2025/12/31", 1), write("2026/01/02", 2));
        let newest = write("2026/01/02", 3);
        home.write("sessions/2026/01/02/other.jsonl", "");
        let found = |limit| newest_rollouts(&home.disk, home.folder.path(), limit);
        assert_eq!(found(2), [newest.clone(), new.clone()]);
        assert_eq!(found(9), [newest, new, old]);
    }
}
