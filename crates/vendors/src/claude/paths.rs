//! Finds the files of Claude Code.

use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::Environment;

pub(super) use crate::shared::ids::is_uuid as is_id;

use crate::shared::{config_dir, ids};

/// Environment variable that names the config dir. If it is set, `.claude.json` is in that folder,
/// too.
pub(super) const CONFIG_DIR_VARIABLE: &str = "CLAUDE_CONFIG_DIR";

/// The folder of the registry.
pub(super) const REGISTRY: &str = "sessions";

/// Maximum length of a folder name. A longer name is cut and gets a hash at its end.
const LONGEST_FOLDER_NAME: usize = 200;

/// Returns the config dir, given an agent's environment.
pub(super) fn config_dir(environment: &Environment) -> Result<PathBuf> {
    let default = default_config_dir(environment);
    config_dir::from_variable(environment, ("Claude Code", CONFIG_DIR_VARIABLE), default)
}

/// Returns the config dir that Claude Code uses if no variable names one. `None` if `HOME` is
/// missing or empty.
pub(super) fn default_config_dir(environment: &Environment) -> Option<PathBuf> {
    config_dir::below_home(environment, ".claude")
}

/// Returns the folder that contains one folder of transcripts per working folder.
pub(super) fn projects(config_dir: &Path) -> PathBuf {
    config_dir.join("projects")
}

/// Returns the folder with the transcripts of one working folder.
pub(super) fn transcripts(config_dir: &Path, cwd: &Path) -> PathBuf {
    projects(config_dir).join(encode_folder(&cwd.to_string_lossy()))
}

/// Returns the path of a conversation's transcript. The file may be missing.
pub(super) fn transcript(config_dir: &Path, cwd: &Path, id: &str) -> PathBuf {
    transcripts(config_dir, cwd).join(format!("{}.jsonl", ids::file_name(id)))
}

/// Returns the folder with the transcripts of a conversation's subagents, and with outputs that are
/// too long for its transcript.
pub(super) fn companion_folder(config_dir: &Path, cwd: &Path, id: &str) -> PathBuf {
    transcripts(config_dir, cwd).join(ids::file_name(id))
}

/// Returns the folder of the registry, in which each live process records its state.
pub(super) fn registry(config_dir: &Path) -> PathBuf {
    config_dir.join(REGISTRY)
}

/// Encodes a folder's real path as Claude Code does: every UTF-16 unit that is no ASCII letter or
/// digit becomes a dash. Different folders can get the same name (`a_b` and `a.b`).
fn encode_folder(path: &str) -> String {
    let units: Vec<u16> = path.encode_utf16().collect();
    let dashed: String = units.iter().map(|unit| encode_unit(*unit)).collect();
    if dashed.len() <= LONGEST_FOLDER_NAME {
        return dashed;
    }
    format!("{}-{}", &dashed[..LONGEST_FOLDER_NAME], base36(java_hash(&units)))
}

fn encode_unit(unit: u16) -> char {
    let letter = u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric);
    letter.map_or('-', char::from)
}

/// Returns the hash of a text as Java's `String.hashCode` computes it, without its sign.
fn java_hash(units: &[u16]) -> u32 {
    let add = |hash: i32, unit: &u16| hash.wrapping_mul(31).wrapping_add(i32::from(*unit));
    units.iter().fold(0, add).unsigned_abs()
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::environment;

    #[test]
    fn config_dir_variable_overrides_the_default_folder() {
        let both = environment(&[("HOME", "/home/u"), (CONFIG_DIR_VARIABLE, "/srv/claude")]);
        assert_eq!(config_dir(&both).unwrap(), Path::new("/srv/claude"));
        let empty = environment(&[("HOME", "/home/u"), (CONFIG_DIR_VARIABLE, "")]);
        assert_eq!(config_dir(&empty).unwrap(), Path::new("/home/u/.claude"));
    }

    #[test]
    fn missing_or_relative_home_is_a_configuration_error() {
        assert_eq!(config_dir(&environment(&[])).unwrap_err().kind, segue_core::Kind::Config);
        let relative = environment(&[(CONFIG_DIR_VARIABLE, "here")]);
        assert!(config_dir(&relative).unwrap_err().message.contains("`here`"));
    }

    #[test]
    fn folder_names_are_encoded_as_claude_code_encodes_them() {
        let table = [
            ("/tmp/segue-5bTEbN/project", "-tmp-segue-5bTEbN-project"),
            ("/a_b.c d", "-a-b-c-d"),
            ("/日本/ü", "-----"),
            // The first path has a character of two UTF-16 units, the second a combining mark after
            // a letter.
            ("/😀", "---"),
            ("/u\u{308}", "-u-"),
        ];
        for (path, name) in table {
            assert_eq!(encode_folder(path), name, "{path}");
        }
    }

    #[test]
    fn a_long_name_is_cut_and_ends_with_the_hash_of_the_whole_path() {
        let (letters, marks) = ("ü".repeat(60), "😀".repeat(40));
        let table = [
            (format!("{}/{}", "x".repeat(100), "y".repeat(120)), "-5xlqg7"),
            (format!("{letters}/{marks}/{}", "z".repeat(90)), "-xobi9c"),
        ];
        for (folder, ending) in table {
            let name = encode_folder(&format!("/tmp/segue-gjyyKM/places/{folder}"));
            assert_eq!(&name[LONGEST_FOLDER_NAME..], ending, "{folder}");
        }
        assert_eq!(encode_folder(&"a".repeat(200)).len(), 200);
        assert_eq!((base36(0), base36(35), base36(36)), ("0".into(), "z".into(), "10".into()));
        let units: Vec<u16> = "hello".encode_utf16().collect();
        assert_eq!(java_hash(&units), 99_162_322);
    }

    #[test]
    fn id_with_path_separators_stays_in_its_folder() {
        let path = transcript(Path::new("/h"), Path::new("/code/a"), "../../x");
        assert_eq!(path, Path::new("/h/projects/-code-a/------x.jsonl"));
        assert!(!is_id("../../x") && is_id("6d1c4bb0-4a8e-4c83-9a53-0f1f7f9b2a11"));
    }
}
