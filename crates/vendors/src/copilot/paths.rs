//! The paths of Copilot's files.

use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::Environment;

pub(super) use crate::shared::ids::is_uuid as is_id;

use crate::shared::{config_dir, ids};

/// The environment variable that names the config dir.
pub(super) const CONFIG_DIR_VARIABLE: &str = "COPILOT_HOME";

const CONVERSATIONS_FOLDER: &str = "session-state";
const TRANSCRIPT_FILE: &str = "events.jsonl";
const DESCRIPTION_FILE: &str = "workspace.yaml";

/// Folder for pasted texts that are too long for the transcript.
const PASTES_FOLDER: &str = "files";

/// Folder with one log file per process.
const LOGS_FOLDER: &str = "logs";

/// File that lists the conversations that are open on a screen.
const OPEN_CONVERSATIONS_FILE: &str = "open-sessions-state.json";

/// Returns the config dir, given an agent's environment.
pub(super) fn config_dir(environment: &Environment) -> Result<PathBuf> {
    let default = default_config_dir(environment);
    config_dir::from_variable(environment, ("Copilot", CONFIG_DIR_VARIABLE), default)
}

/// Returns the config dir that Copilot uses if no variable names one. `None` if `HOME` is missing
/// or empty.
pub(super) fn default_config_dir(environment: &Environment) -> Option<PathBuf> {
    config_dir::below_home(environment, ".copilot")
}

/// Returns the folder that contains one folder per conversation.
pub(super) fn conversations(config_dir: &Path) -> PathBuf {
    config_dir.join(CONVERSATIONS_FOLDER)
}

/// Returns the folder of one conversation.
pub(super) fn conversation(config_dir: &Path, id: &str) -> PathBuf {
    conversations(config_dir).join(ids::file_name(id))
}

/// Returns the path of a conversation's transcript. The file may be missing.
pub(super) fn transcript(config_dir: &Path, id: &str) -> PathBuf {
    transcript_in(&conversation(config_dir, id))
}

/// Returns the path of the transcript in a conversation's folder.
pub(super) fn transcript_in(folder: &Path) -> PathBuf {
    folder.join(TRANSCRIPT_FILE)
}

/// Returns the path of the file that contains the name of the conversation.
pub(super) fn description(transcript: &Path) -> PathBuf {
    transcript.with_file_name(DESCRIPTION_FILE)
}

/// Returns the folder with a conversation's pasted texts that are too long for its transcript.
pub(super) fn pastes(transcript: &Path) -> Option<PathBuf> {
    transcript.parent().map(|folder| folder.join(PASTES_FOLDER))
}

/// Returns the path of the list of conversations that are open on a screen.
pub(super) fn open_conversations(config_dir: &Path) -> PathBuf {
    config_dir.join(OPEN_CONVERSATIONS_FILE)
}

/// Returns the config dir if `path` is its list of open conversations.
pub(super) fn config_dir_of_open_conversations(path: &Path) -> Option<&Path> {
    path.parent().filter(|_| path.file_name().is_some_and(|name| name == OPEN_CONVERSATIONS_FILE))
}

/// Returns the folder with one log file per process.
pub(super) fn logs(config_dir: &Path) -> PathBuf {
    config_dir.join(LOGS_FOLDER)
}

/// Returns the process id in the name of a log file, `process-<time>-<pid>.log`. `None` if `path`
/// is no such log.
pub(super) fn pid_of_log(path: &Path) -> Option<u32> {
    let is_in_folder = path.parent()?.ends_with(LOGS_FOLDER);
    let stem = path.file_name()?.to_str()?.strip_prefix("process-")?.strip_suffix(".log")?;
    stem.rsplit('-').next()?.parse().ok().filter(|_| is_in_folder)
}

/// Returns the id of the conversation whose folder directly contains `path`.
pub(super) fn id_of_file_in_conversation(path: &Path) -> Option<&str> {
    let folder = path.parent()?;
    let is_in_folder = folder.parent()?.ends_with(CONVERSATIONS_FOLDER);
    folder.file_name()?.to_str().filter(|name| is_in_folder && is_id(name))
}

/// Returns whether this is the path of a transcript.
pub(super) fn is_transcript(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == TRANSCRIPT_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::environment;

    const ID: &str = "21111111-2222-4333-8444-555555555555";

    #[test]
    fn copilot_home_variable_overrides_the_default_folder() {
        let both = environment(&[("HOME", "/home/u"), (CONFIG_DIR_VARIABLE, "/srv/copilot")]);
        assert_eq!(config_dir(&both).unwrap(), Path::new("/srv/copilot"));
        let empty = environment(&[("HOME", "/home/u"), (CONFIG_DIR_VARIABLE, "")]);
        assert_eq!(config_dir(&empty).unwrap(), Path::new("/home/u/.copilot"));
    }

    #[test]
    fn missing_or_relative_home_folder_is_a_configuration_error() {
        assert_eq!(config_dir(&environment(&[])).unwrap_err().kind, segue_core::Kind::Config);
        let relative = environment(&[(CONFIG_DIR_VARIABLE, "here")]);
        assert!(config_dir(&relative).unwrap_err().message.contains("`here`"));
    }

    #[test]
    fn id_with_path_separators_stays_in_the_conversations_folder() {
        let path = transcript(Path::new("/h"), "../../x");
        assert_eq!(path, Path::new("/h/session-state/------x/events.jsonl"));
    }

    #[test]
    fn paths_of_files_name_their_conversation_list_or_process() {
        let config_dir = Path::new("/h");
        assert_eq!(id_of_file_in_conversation(&transcript(config_dir, ID)), Some(ID));
        assert_eq!(id_of_file_in_conversation(&conversation(config_dir, ID)), None);
        assert_eq!(
            id_of_file_in_conversation(Path::new("/h/session-state/named/events.jsonl")),
            None
        );
        assert_eq!(
            config_dir_of_open_conversations(&open_conversations(config_dir)),
            Some(config_dir)
        );
        assert_eq!(config_dir_of_open_conversations(Path::new("/h/config.json")), None);
        assert_eq!(
            pid_of_log(&logs(config_dir).join("process-1794793900082-25299.log")),
            Some(25299)
        );
        assert_eq!(pid_of_log(&logs(config_dir).join("process-1.txt")), None);
        assert_eq!(pid_of_log(Path::new("/h/process-1-2.log")), None);
    }
}
