//! The paths of Cursor's files.

use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::Environment;
use segue_core::ports::{Files, Place};

pub(super) use crate::shared::ids::is_uuid as is_id;

use crate::shared::{config_dir, files, ids};

/// The environment variable that names Cursor's config dir, with its settings and conversations.
const CONFIG_DIR_VARIABLE: &str = "CURSOR_CONFIG_DIR";

/// Environment variables that Cursor sets for the programs that it starts.
const NESTED_VARIABLES: [&str; 4] =
    ["CURSOR_AGENT", "CURSOR_CLI", "CURSOR_TRACE_ID", "CURSOR_INVOKED_AS"];

/// The folder in `projects/<working folder>` that contains one folder per transcript.
pub(super) const TRANSCRIPTS: &str = "agent-transcripts";

/// Returns Cursor's config dir, given an agent's environment.
pub(super) fn config_dir(environment: &Environment) -> Result<PathBuf> {
    let set = |name| environment.get(name).filter(|value| !value.trim().is_empty());
    let named = set(CONFIG_DIR_VARIABLE).map(PathBuf::from);
    let default = || set("XDG_CONFIG_HOME").map(|folder| Path::new(folder).join("cursor"));
    let home = || set("HOME").map(|home| Path::new(home).join(".cursor"));
    let found = named.or_else(default).or_else(home);
    found
        .filter(|folder| folder.is_absolute())
        .ok_or_else(|| config_dir::unknown("Cursor", CONFIG_DIR_VARIABLE))
}

pub(super) fn prepare_environment(place: &Place, environment: &mut Environment) {
    environment.retain(|name| !NESTED_VARIABLES.contains(&name));
    environment.set(CONFIG_DIR_VARIABLE, place.config_dir.to_string_lossy());
}

/// Returns the folder that contains one folder per working folder.
pub(super) fn projects(config_dir: &Path) -> PathBuf {
    config_dir.join("projects")
}

/// Returns the path of a conversation's transcript. It is not known exactly how Cursor names the
/// folder of a project, so all projects are searched for the id. If there is no transcript, returns
/// the most likely path.
pub(super) fn transcript(files: &dyn Files, place: &Place, id: &str) -> PathBuf {
    let projects = projects(&place.config_dir);
    let default = transcript_in_project(&projects.join(encode(&place.cwd.to_string_lossy())), id);
    let exists = |path: &PathBuf| files::exists(files, path);
    if exists(&default) || !is_id(id) {
        return default;
    }
    let all = files.list(&projects).unwrap_or_default().into_iter();
    all.map(|project| transcript_in_project(&project, id)).find(exists).unwrap_or(default)
}

fn transcript_in_project(project: &Path, id: &str) -> PathBuf {
    let id = ids::file_name(id);
    project.join(TRANSCRIPTS).join(&id).join(format!("{id}.jsonl"))
}

/// Returns the config dir and the conversation's id from the path of a transcript. `None` for any
/// other path, such as that of a subagent's transcript.
pub(super) fn config_dir_and_id_of_transcript(path: &Path) -> Option<(&Path, &str)> {
    let id = path.file_name()?.to_str()?.strip_suffix(".jsonl").filter(|id| is_id(id))?;
    let mut above = path.ancestors().skip(1);
    let is_own = above.next()?.file_name()? == id && above.next()?.file_name()? == TRANSCRIPTS;
    let config_dir = above.nth(2)?;
    is_own.then_some((config_dir, id))
}

fn encode(path: &str) -> String {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Home, environment};

    const ID: &str = "32143814-2a0b-4c11-9d55-0b7c5a1f6e01";

    #[test]
    fn config_dir_is_the_one_in_the_variable_or_else_the_default() {
        let (home, xdg) = (("HOME", "/home/u"), ("XDG_CONFIG_HOME", "/home/u/.config"));
        let table = [
            (vec![(CONFIG_DIR_VARIABLE, "/srv/c"), xdg, home], "/srv/c"),
            (vec![(CONFIG_DIR_VARIABLE, " "), xdg, home], "/home/u/.config/cursor"),
            (vec![home], "/home/u/.cursor"),
        ];
        for (pairs, wanted) in table {
            assert_eq!(config_dir(&environment(&pairs)).unwrap(), Path::new(wanted), "{pairs:?}");
        }
        for pairs in [vec![], vec![("HOME", "here")]] {
            let error = config_dir(&environment(&pairs)).unwrap_err();
            assert_eq!(error.kind, segue_core::Kind::Config, "{pairs:?}");
        }
    }

    #[test]
    fn environment_names_the_recorded_config_dir_and_drops_variables_of_an_outer_agent() {
        let place = Place { config_dir: "/recorded".into(), cwd: "/code".into() };
        let mut found = environment(&[(CONFIG_DIR_VARIABLE, "/elsewhere"), ("CURSOR_AGENT", "1")]);
        prepare_environment(&place, &mut found);
        assert_eq!(found.names(), [CONFIG_DIR_VARIABLE]);
        assert_eq!(found.get(CONFIG_DIR_VARIABLE), Some("/recorded"));
    }

    #[test]
    fn transcript_is_found_whatever_the_name_of_its_folder_is() {
        let home = Home::new();
        let below = |project: &str| format!("projects/{project}/agent-transcripts/{ID}/{ID}.jsonl");
        let default = home.folder.path().join(below("code-a"));
        assert_eq!(transcript(&home.disk, &home.place, ID), default);
        let other = home.write(&below("Code_A"), "");
        assert_eq!(transcript(&home.disk, &home.place, ID), other);
        home.write(&below("code-a"), "");
        assert_eq!(transcript(&home.disk, &home.place, ID), default);
        assert_eq!(config_dir_and_id_of_transcript(&default), Some((home.folder.path(), ID)));
        let hostile = transcript(&home.disk, &home.place, "../../x");
        assert!(hostile.starts_with(home.folder.path().join("projects/code-a/agent-transcripts")));
        let child = home.folder.path().join(format!("projects/a/{TRANSCRIPTS}/x/{ID}.jsonl"));
        assert_eq!(config_dir_and_id_of_transcript(&child), None);
    }

    #[test]
    fn encode_names_folders_as_public_descriptions_do() {
        assert_eq!(encode("/tmp/aeye-spike-work"), "tmp-aeye-spike-work");
        assert_eq!(encode("/Users/foo.bar/workspaces"), "Users-foo-bar-workspaces");
    }
}
