//! Finds the files of Gemini.

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

use super::{records, transcript as words};
use crate::shared::hash::fnv1a;
use crate::shared::{config_dir, files};

/// Environment variable that names the folder in which the folder of Gemini's files is.
const HOME_VARIABLE: &str = "GEMINI_CLI_HOME";

/// Name of the folder of Gemini's files. It is in the user's home, or in the folder that the
/// variable names.
const FOLDER: &str = ".gemini";

/// Marker file in the folder of a project. It contains the path of the project.
const OWNER: &str = ".project_root";

const PREFIX: &str = "session-";
const SUFFIX: &str = ".jsonl";

/// Maximum number of bytes that are read of a list, and of a first line.
const LARGEST: usize = 1024 * 1024;
const FIRST_LINE: usize = 4096;

/// Environment variables that Gemini sets for its tools and for the second process that it starts
/// of itself. A Gemini that inherits them believes that it runs inside another Gemini.
const NESTED: [&str; 5] = [
    "GEMINI_CLI",
    "GEMINI_CLI_NO_RELAUNCH",
    "GEMINI_PROJECT_DIR",
    "GEMINI_PTY_INFO",
    "GEMINI_SESSION_ID",
];

/// Returns the folder of Gemini's files, given an agent's environment.
pub(super) fn config_dir(environment: &Environment) -> Result<PathBuf> {
    let set = |name| config_dir::set(environment, name);
    let home = set(HOME_VARIABLE).or_else(|| set("HOME"));
    match home.map(Path::new) {
        Some(home) if home.is_absolute() => Ok(home.join(FOLDER)),
        _ => Err(config_dir::unknown("Gemini", HOME_VARIABLE)),
    }
}

pub(super) fn prepare_environment(place: &Place, environment: &mut Environment) {
    environment.retain(|name| !NESTED.contains(&name));
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

/// Returns the folder with the transcripts of a working folder, whether or not it exists.
pub(super) fn chats(files: &dyn Files, place: &Place) -> PathBuf {
    project(files, place).join("chats")
}

/// Finds the folder of a project as Gemini does: by its list of projects, then by the marker files
/// in the folders. For a new project, we choose the name, and Gemini finds the folder by its marker
/// file.
fn project(files: &dyn Files, place: &Place) -> PathBuf {
    let all = place.config_dir.join("tmp");
    let own = place.cwd.to_string_lossy();
    let text = files.head(&place.config_dir.join("projects.json"), LARGEST).unwrap_or_default();
    let listed = serde_json::from_slice(&text).ok();
    let listed = listed.and_then(|mut list: GeminiProjects| list.projects.remove(own.as_ref()));
    let is_plain = |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let listed = listed.filter(is_plain).map(|name| all.join(name));
    if let Some(listed) = listed
        && owner(files, &listed).is_none_or(|owner| owner == own)
    {
        return listed;
    }
    let mut folders = files.list(&all).unwrap_or_default();
    folders.sort_unstable();
    let found = folders.into_iter().find(|it| owner(files, it).is_some_and(|it| it == own));
    found.unwrap_or_else(|| all.join(name(&place.cwd)))
}

fn owner(files: &dyn Files, project: &Path) -> Option<String> {
    let bytes = files.head(&project.join(OWNER), FIRST_LINE).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Returns the marker file that assigns a folder to a project, with its contents.
pub(super) fn marker(files: &dyn Files, place: &Place) -> (PathBuf, String) {
    (project(files, place).join(OWNER), place.cwd.to_string_lossy().into_owned())
}

/// Makes the name of a project's folder from the project's name. A hash of its path makes it
/// unique.
fn name(cwd: &Path) -> String {
    let last = cwd.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let words: String = last.chars().map(plain).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    format!("{}-{:016x}", words.join("-"), fnv1a(cwd.as_os_str().as_encoded_bytes()))
        .trim_start_matches('-')
        .to_owned()
}

/// Returns the path of a transcript that we prepare. Gemini deletes files by the eight characters
/// at the end of their names. This name has twelve characters after its last dash, so it never
/// matches.
pub(super) fn prepared(chats: &Path, id: &str) -> PathBuf {
    let began = began_at(id).unwrap_or(Timestamp::UNIX_EPOCH);
    chats.join(format!("{PREFIX}{}-{id}{SUFFIX}", minute(began)))
}

/// Formats a timestamp as in the names of transcripts.
fn minute(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H-%M").to_string()
}

/// Returns the path of a conversation's transcript, whether or not the file exists.
pub(super) fn transcript(files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
    transcript_in(files, &chats(files, place), id)
}

/// Returns the path to which a deleted transcript is restored, whatever its name was before. Gemini
/// does not delete a file with this name.
pub(super) fn restored_as(files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
    prepared(&chats(files, place), id.as_str())
}

/// Finds a conversation's transcript in a folder: the prepared file if it exists, or else one of
/// the files that Gemini named after the conversation. Of these, a file with messages comes first,
/// and then the largest one. Each resume leaves a file without messages. A file that was deleted
/// while its process ran has no first line with the id.
pub(super) fn transcript_in(files: &dyn Files, chats: &Path, id: &VendorSessionId) -> PathBuf {
    let prepared = prepared(chats, id.as_str());
    if !is_id(id.as_str()) || files::exists(files, &prepared) {
        return prepared;
    }
    let ending = format!("-{}{SUFFIX}", &id.as_str()[..8]);
    let named = |path: &PathBuf| path.to_string_lossy().ends_with(&ending);
    let length = |path: &PathBuf| files::length(files, path);
    let worth = |path: &PathBuf| (words::has_words(files, path), length(path));
    // In a conversation that we prepared, a file without messages does not count: a resume left it.
    let is_prepared = began_at(id.as_str()).is_some();
    let own = |path: &PathBuf| match id_of(files, path) {
        Some(found) => found == *id,
        // The file name is enough: the ids that Gemini makes differ in their first eight
        // characters.
        None => !is_prepared,
    };
    let counts = |path: &PathBuf| !is_prepared || words::has_words(files, path);
    let all = files.list(chats).unwrap_or_default().into_iter();
    all.filter(named).filter(own).filter(counts).max_by_key(worth).unwrap_or(prepared)
}

/// Returns the eight characters at the end of a name that Gemini gave. Gemini deletes files by
/// them.
pub(super) fn named_by_gemini(path: &Path) -> Option<&str> {
    let stem = path.file_name()?.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    stem.rsplit('-').next().filter(|ending| ending.len() == 8)
}

/// Returns the last conversation that Gemini itself began in a folder between two timestamps.
pub(super) fn begun_between(
    files: &dyn Files,
    chats: &Path,
    (from, to): (Timestamp, Timestamp),
) -> Option<VendorSessionId> {
    let minutes = [from, to].map(|at| format!("{PREFIX}{}-", minute(at)));
    let is_near = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        minutes.iter().any(|minute| name.starts_with(minute))
    };
    let begun = |path: PathBuf| {
        let first = first_line(files, &path)?;
        let at = records::began_at(&first).filter(|at| (from..=to).contains(at))?;
        let id = id_of(files, &path).filter(|id| began_at(id.as_str()).is_none())?;
        Some((at, id))
    };
    let all = files.list(chats).unwrap_or_default().into_iter();
    all.filter(is_near).filter_map(begun).max().map(|(_, id)| id)
}

/// Returns the id of a transcript's conversation. A prepared file has it in its name, any other
/// file in its first line.
pub(super) fn id_of(files: &dyn Files, path: &Path) -> Option<VendorSessionId> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let own = stem.get(stem.len().saturating_sub(36)..).filter(|own| is_id(own));
    if let Some(own) = own {
        return Some(VendorSessionId::new(own));
    }
    let id = records::session(&first_line(files, path)?)?;
    is_id(&id).then(|| VendorSessionId::new(id))
}

/// Reads the first line of a file, at most `FIRST_LINE` bytes of it.
pub(super) fn first_line(files: &dyn Files, path: &Path) -> Option<Vec<u8>> {
    let bytes = files.head(path, FIRST_LINE).ok()?;
    bytes.split(|byte| *byte == b'\n').next().map(<[u8]>::to_vec)
}

/// Lists the transcripts of all projects. For each conversation, only the largest is listed.
pub(super) fn kept(files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
    let mut largest: BTreeMap<VendorSessionId, (u64, StoredConversation)> = BTreeMap::new();
    for project in files.list(&config_dir.join("tmp"))? {
        // Entries that are files, and folders that cannot be read, are skipped.
        for path in files.list(&project.join("chats")).unwrap_or_default() {
            let Some(id) = id_of(files, &path) else { continue };
            let Ok(Some(facts)) = files.facts(&path) else { continue };
            let kept =
                StoredConversation { id: id.clone(), transcript: path, modified: facts.modified };
            let known = largest.get(&id).map_or(0, |(length, _)| *length);
            if facts.length > known {
                largest.insert(id, (facts.length, kept));
            }
        }
    }
    Ok(largest.into_values().map(|(_, kept)| kept).collect())
}

/// Returns the working folder in which a transcript's conversation began.
pub(super) fn cwd_of(files: &dyn Files, transcript: &Path) -> Option<PathBuf> {
    let project = transcript.parent()?.parent()?;
    owner(files, project).map(PathBuf::from).filter(|cwd| cwd.is_absolute())
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
        let usual = environment(&[(HOME_VARIABLE, ""), ("HOME", "/home/u")]);
        assert_eq!(config_dir(&usual).unwrap(), Path::new("/home/u/.gemini"));
        for pairs in [&[("HOME", "relative")][..], &[]] {
            let error = config_dir(&environment(pairs)).unwrap_err();
            assert!(!error.hints.is_empty(), "{pairs:?}");
        }
    }

    #[test]
    fn environment_names_the_recorded_folder_and_no_outer_session() {
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
        let new = name(Path::new("/code/a"));
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
    fn project_names_have_plain_characters_and_are_unique() {
        assert!(name(Path::new("/x/My App_2")).starts_with("my-app-2-"));
        assert_eq!(name(Path::new("/")).len(), 16);
        assert_ne!(name(Path::new("/x/a")), name(Path::new("/y/a")));
    }

    #[test]
    fn name_of_a_prepared_transcript_has_the_whole_id() {
        let path = prepared(Path::new("/c"), ID);
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
        assert_eq!(found(), prepared(&chats(&home.disk, &home.place), ID), "no file yet");
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
