//! The paths of Gemini's files.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use segue_core::Result;
use segue_core::model::{Environment, VendorSessionId};
use segue_core::ports::{Files, Place, StoredConversation};
use serde::Deserialize;

pub(super) use crate::shared::ids::{created_at as began_at, is_uuid as is_id};

use super::{records, transcript};
use crate::shared::hash::fnv1a;
use crate::shared::{config_dir, files};

/// The environment variable that names the parent folder of the config dir.
const HOME_VARIABLE: &str = "GEMINI_CLI_HOME";

/// The name of the config dir in the folder that `HOME_VARIABLE` names, or in the user's home.
const FOLDER_NAME: &str = ".gemini";

/// The name of the marker file in the folder of a project. The marker file contains the path of the
/// project.
const MARKER_NAME: &str = ".project_root";

const PREFIX: &str = "session-";
const SUFFIX: &str = ".jsonl";

/// How many bytes of the list of projects are read, and how many bytes of a first line.
const LIST_LIMIT_BYTES: usize = 1024 * 1024;
const FIRST_LINE_LIMIT_BYTES: usize = 4096;

/// The environment variables that Gemini sets for its tools and for its child process. A Gemini
/// process that inherits them behaves as if it ran inside another Gemini process.
const NESTED_VARIABLES: [&str; 5] = [
    "GEMINI_CLI",
    "GEMINI_CLI_NO_RELAUNCH",
    "GEMINI_PROJECT_DIR",
    "GEMINI_PTY_INFO",
    "GEMINI_SESSION_ID",
];

/// Returns Gemini's config dir for this environment.
pub(super) fn config_dir(environment: &Environment) -> Result<PathBuf> {
    let set = |name| config_dir::set(environment, name);
    let home = set(HOME_VARIABLE).or_else(|| set("HOME"));
    match home.map(Path::new) {
        Some(home) if home.is_absolute() => Ok(home.join(FOLDER_NAME)),
        _ => Err(config_dir::unknown("Gemini", HOME_VARIABLE)),
    }
}

pub(super) fn prepare_environment(place: &Place, environment: &mut Environment) {
    environment.retain(|name| !NESTED_VARIABLES.contains(&name));
    if config_dir(environment).is_ok_and(|found| found == place.config_dir) {
        return;
    }
    if let Some(home) = place.config_dir.parent() {
        environment.set(HOME_VARIABLE, home.to_string_lossy());
    }
}

#[derive(Deserialize)]
struct GeminiProjects {
    projects: BTreeMap<String, String>,
}

/// Returns the folder with the transcripts of a working folder. The folder may be missing.
pub(super) fn chats(files: &dyn Files, place: &Place) -> PathBuf {
    project(files, place).join("chats")
}

/// Finds the folder of a project as Gemini does: in its list of projects, then by the marker files.
/// For a new project, Segue chooses the name of the folder and writes the marker file.
fn project(files: &dyn Files, place: &Place) -> PathBuf {
    let projects = place.config_dir.join("tmp");
    let path_text = place.cwd.to_string_lossy();
    let text =
        files.head(&place.config_dir.join("projects.json"), LIST_LIMIT_BYTES).unwrap_or_default();
    let listed_folder = serde_json::from_slice(&text).ok();
    let listed_folder =
        listed_folder.and_then(|mut list: GeminiProjects| list.projects.remove(path_text.as_ref()));
    let is_valid_name =
        |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let listed_folder = listed_folder.filter(is_valid_name).map(|name| projects.join(name));
    if let Some(listed_folder) = listed_folder
        && project_path(files, &listed_folder).is_none_or(|path| path == path_text)
    {
        return listed_folder;
    }
    let mut folders = files.list(&projects).unwrap_or_default();
    folders.sort_unstable();
    let found = folders
        .into_iter()
        .find(|folder| project_path(files, folder).is_some_and(|path| path == path_text));
    found.unwrap_or_else(|| projects.join(new_folder_name(&place.cwd)))
}

fn project_path(files: &dyn Files, project: &Path) -> Option<String> {
    let bytes = files.head(&project.join(MARKER_NAME), FIRST_LINE_LIMIT_BYTES).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Returns the path and the contents of the marker file that assigns a folder to a project.
pub(super) fn marker(files: &dyn Files, place: &Place) -> (PathBuf, String) {
    (project(files, place).join(MARKER_NAME), place.cwd.to_string_lossy().into_owned())
}

/// Returns the name of the folder of a new project: the project's name and a hash of its path.
fn new_folder_name(cwd: &Path) -> String {
    let project_name = cwd.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let to_name_character = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let parts: String = project_name.chars().map(to_name_character).collect();
    let parts: Vec<&str> = parts.split('-').filter(|word| !word.is_empty()).collect();
    format!("{}-{:016x}", parts.join("-"), fnv1a(cwd.as_os_str().as_encoded_bytes()))
        .trim_start_matches('-')
        .to_owned()
}

/// Returns the path of a transcript that Segue prepares. Gemini deletes a file if the last eight
/// characters of its name match. A prepared name has twelve characters after its last dash, so it
/// never matches.
pub(super) fn prepared_path(chats: &Path, id: &str) -> PathBuf {
    let began = began_at(id).unwrap_or(Timestamp::UNIX_EPOCH);
    chats.join(format!("{PREFIX}{}-{id}{SUFFIX}", format_minute(began)))
}

/// Formats a timestamp as in the file names of transcripts.
fn format_minute(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H-%M").to_string()
}

/// Returns the path of a conversation's transcript. The file may be missing.
pub(super) fn transcript(files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
    transcript_in(files, &chats(files, place), id)
}

/// Returns the path to which a deleted transcript is restored. Gemini does not delete a file with
/// this name.
pub(super) fn restored_as(files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
    prepared_path(&chats(files, place), id.as_str())
}

/// Returns the path of a conversation's transcript in a folder. This is the prepared file if it
/// exists. Otherwise, it is one of the files that Gemini named after the conversation: a file with
/// messages if there is one, and the largest one of several.
///
/// Each resume leaves a file without messages. A file that was deleted while its process ran has no
/// header with the id.
pub(super) fn transcript_in(files: &dyn Files, chats: &Path, id: &VendorSessionId) -> PathBuf {
    let prepared_path = prepared_path(chats, id.as_str());
    if !is_id(id.as_str()) || files::exists(files, &prepared_path) {
        return prepared_path;
    }
    let ending = format!("-{}{SUFFIX}", &id.as_str()[..8]);
    let has_ending = |path: &PathBuf| path.to_string_lossy().ends_with(&ending);
    let length = |path: &PathBuf| files::length(files, path);
    let priority = |path: &PathBuf| (transcript::has_user_message(files, path), length(path));
    // In a prepared conversation, a file without messages is a remainder of a resume.
    let is_prepared = began_at(id.as_str()).is_some();
    let has_id = |path: &PathBuf| match id_of(files, path) {
        Some(found) => found == *id,
        // The file name is sufficient: the ids that Gemini generates differ in their first eight
        // characters.
        None => !is_prepared,
    };
    let has_message_if_needed =
        |path: &PathBuf| !is_prepared || transcript::has_user_message(files, path);
    let paths = files.list(chats).unwrap_or_default().into_iter();
    paths
        .filter(has_ending)
        .filter(has_id)
        .filter(has_message_if_needed)
        .max_by_key(priority)
        .unwrap_or(prepared_path)
}

/// Returns the last eight characters of a file name that Gemini generated. `None` for other names.
/// Gemini deletes files by these characters.
pub(super) fn generated_ending(path: &Path) -> Option<&str> {
    let stem = path.file_name()?.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    stem.rsplit('-').next().filter(|ending| ending.len() == 8)
}

/// Returns the last conversation that Gemini began without a prepared transcript between two
/// timestamps.
pub(super) fn last_begun_between(
    files: &dyn Files,
    chats: &Path,
    (from, to): (Timestamp, Timestamp),
) -> Option<VendorSessionId> {
    let minutes = [from, to].map(|at| format!("{PREFIX}{}-", format_minute(at)));
    let has_minute = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        minutes.iter().any(|minute| name.starts_with(minute))
    };
    let start_and_id = |path: PathBuf| {
        let header = first_line(files, &path)?;
        let at = records::began_at(&header).filter(|at| (from..=to).contains(at))?;
        let id = id_of(files, &path).filter(|id| began_at(id.as_str()).is_none())?;
        Some((at, id))
    };
    let paths = files.list(chats).unwrap_or_default().into_iter();
    paths.filter(has_minute).filter_map(start_and_id).max().map(|(_, id)| id)
}

/// Returns the conversation id of a transcript: from the name of a prepared file, and from the
/// first line of any other file.
pub(super) fn id_of(files: &dyn Files, path: &Path) -> Option<VendorSessionId> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let id = stem.get(stem.len().saturating_sub(36)..).filter(|id| is_id(id));
    if let Some(id) = id {
        return Some(VendorSessionId::new(id));
    }
    let id = records::session(&first_line(files, path)?)?;
    is_id(&id).then(|| VendorSessionId::new(id))
}

/// Reads the first line of a file, at most `FIRST_LINE_LIMIT_BYTES`.
pub(super) fn first_line(files: &dyn Files, path: &Path) -> Option<Vec<u8>> {
    let bytes = files.head(path, FIRST_LINE_LIMIT_BYTES).ok()?;
    bytes.split(|byte| *byte == b'\n').next().map(<[u8]>::to_vec)
}

/// Lists the transcripts of all projects, only the largest one for each conversation.
pub(super) fn kept(files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
    let mut largest: BTreeMap<VendorSessionId, (u64, StoredConversation)> = BTreeMap::new();
    for project in files.list(&config_dir.join("tmp"))? {
        // Skips files, and folders that cannot be read.
        for path in files.list(&project.join("chats")).unwrap_or_default() {
            let Some(id) = id_of(files, &path) else { continue };
            let Ok(Some(facts)) = files.facts(&path) else { continue };
            let kept =
                StoredConversation { id: id.clone(), transcript: path, modified: facts.modified };
            let known_length = largest.get(&id).map_or(0, |(length, _)| *length);
            if facts.length > known_length {
                largest.insert(id, (facts.length, kept));
            }
        }
    }
    Ok(largest.into_values().map(|(_, kept)| kept).collect())
}

/// Returns the working folder of a transcript's conversation.
pub(super) fn cwd_of(files: &dyn Files, transcript: &Path) -> Option<PathBuf> {
    let project = transcript.parent()?.parent()?;
    project_path(files, project).map(PathBuf::from).filter(|cwd| cwd.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Home, environment};

    const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";

    fn id() -> VendorSessionId {
        VendorSessionId::new(ID)
    }

    #[test]
    fn config_dir_is_in_gemini_cli_home_or_in_home() {
        let both = environment(&[(HOME_VARIABLE, "/office"), ("HOME", "/home/u")]);
        assert_eq!(config_dir(&both).unwrap(), Path::new("/office/.gemini"));
        let default = environment(&[(HOME_VARIABLE, ""), ("HOME", "/home/u")]);
        assert_eq!(config_dir(&default).unwrap(), Path::new("/home/u/.gemini"));
        for pairs in [&[("HOME", "relative")][..], &[]] {
            let error = config_dir(&environment(pairs)).unwrap_err();
            assert!(!error.hints.is_empty(), "{pairs:?}");
        }
    }

    #[test]
    fn environment_names_the_recorded_config_dir_and_no_outer_session() {
        let place = |folder: &str| Place { config_dir: folder.into(), cwd: "/code".into() };
        let mut found =
            environment(&[("HOME", "/home/u"), ("GEMINI_CLI", "1"), ("GEMINI_API_KEY", "k")]);
        prepare_environment(&place("/home/u/.gemini"), &mut found);
        assert_eq!(found.names(), ["GEMINI_API_KEY", "HOME"]);
        prepare_environment(&place("/other/.gemini"), &mut found);
        assert_eq!(found.get(HOME_VARIABLE), Some("/other"));
    }

    #[test]
    fn project_folder_comes_from_the_list_then_a_marker_then_a_new_name() {
        let home = Home::new();
        let found = || chats(&home.disk, &home.place);
        let folder = |name: &str| home.folder.path().join("tmp").join(name).join("chats");
        let (path, contents) = marker(&home.disk, &home.place);
        assert_eq!(path.parent(), found().parent());
        assert_eq!(contents, "/code/a");
        let new = new_folder_name(Path::new("/code/a"));
        assert!(new.starts_with("a-") && new.len() == 18, "{new}");
        assert_eq!(found(), folder(&new));
        home.write("tmp/other/.project_root", "/code/other");
        home.write("tmp/said/.project_root", "/code/a\n");
        assert_eq!(found(), folder("said"));
        home.write("projects.json", r#"{"projects":{"/code/a":"listed"}}"#);
        assert_eq!(found(), folder("listed"));
        home.write("tmp/listed/.project_root", "/code/other");
        assert_eq!(found(), folder("said"), "the list is wrong");
        home.write("projects.json", r#"{"projects":{"/code/a":"../.."}}"#);
        assert_eq!(found(), folder("said"), "no other text is part of a path");
    }

    #[test]
    fn new_folder_names_have_only_letters_digits_and_dashes_and_are_unique() {
        assert!(new_folder_name(Path::new("/x/My App_2")).starts_with("my-app-2-"));
        assert_eq!(new_folder_name(Path::new("/")).len(), 16);
        assert_ne!(new_folder_name(Path::new("/x/a")), new_folder_name(Path::new("/y/a")));
    }

    #[test]
    fn name_of_a_prepared_transcript_contains_the_whole_id() {
        let path = prepared_path(Path::new("/c"), ID);
        let name = format!("/c/session-2026-11-16T00-14-{ID}.jsonl");
        assert_eq!(path, Path::new(&name));
        assert_eq!(id_of(&Home::new().disk, &path), Some(id()));
    }

    #[test]
    fn transcript_is_the_file_with_messages_among_those_that_gemini_named() {
        let home = Home::new();
        home.write("projects.json", r#"{"projects":{"/code/a":"a"}}"#);
        let header = format!("{{\"sessionId\":\"{ID}\",\"projectHash\":\"x\"}}\n");
        let found = || transcript(&home.disk, &home.place, &id());
        assert_eq!(found(), prepared_path(&chats(&home.disk, &home.place), ID), "no file yet");
        home.write("tmp/a/chats/session-2026-11-17T00-00-01a1e1b4.jsonl", &header);
        let other = header.replace("7294b417ca9a", "000000000000").repeat(9);
        home.write("tmp/a/chats/session-2026-11-18T00-00-01a1e1b4.jsonl", other);
        let whole = format!("{header}{{\"type\":\"user\",\"content\":\"x\"}}\n");
        let real = home.write("tmp/a/chats/session-2026-11-16T00-00-01a1e1b4.jsonl", whole);
        assert_eq!(found(), real);
        for odd in ["../../etc/passwd", "x"] {
            let odd = VendorSessionId::new(odd);
            let path = transcript(&home.disk, &home.place, &odd);
            assert!(!matches!(home.disk.facts(&path), Ok(Some(_))), "{odd}");
        }
    }
}
