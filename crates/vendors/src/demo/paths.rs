//! The paths of the demo agent's files.

use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::Environment;

use crate::shared::config_dir;
use crate::shared::hash::fnv1a;

/// The environment variable that names the agent's config dir.
pub(crate) const CONFIG_DIR_VARIABLE: &str = "SEGUE_DEMO_HOME";

/// The environment variable that the agent sets for its tools. If it is set, the agent refuses to
/// start, because it would run inside another agent.
pub(crate) const NESTED_VARIABLE: &str = "SEGUE_DEMO_SESSION";

/// The environment variable that simulates an API key. If its value is `rejected`, the agent exits
/// at its start.
pub(crate) const KEY_VARIABLE: &str = "SEGUE_DEMO_KEY";

/// The error message that the agent prints if its API key is rejected.
pub(crate) const KEY_REJECTED_MESSAGE: &str = "authentication failed: the key was rejected";

/// The beginning of the error message of a turn that the usage limit of the account has ended. The end
/// of the limit follows.
pub(crate) const LIMIT_MESSAGE: &str = "the usage limit is reached until ";

/// The name of the folder with the live entries of running agents.
pub(crate) const LIVE_FOLDER: &str = "live";

const FOLDER_NAME_LIMIT_BYTES: usize = 200;
const ID_LIMIT_BYTES: usize = 64;

/// Returns the agent's config dir for this environment.
pub(crate) fn config_dir(environment: &Environment) -> Result<PathBuf> {
    let default = config_dir::below_home(environment, ".segue-demo");
    config_dir::from_variable(environment, ("the demo agent", CONFIG_DIR_VARIABLE), default)
}

/// Returns the folder that contains all transcripts.
pub(crate) fn conversations_folder(config_dir: &Path) -> PathBuf {
    config_dir.join("conversations")
}

/// Returns the folder with the transcripts of one working folder.
///
/// Two working folders can have the same folder of transcripts (`a_b` and `a.b`), as with several
/// real vendors. The header of each transcript names its working folder.
pub(crate) fn transcripts_folder(config_dir: &Path, cwd: &Path) -> PathBuf {
    conversations_folder(config_dir).join(folder_name(&cwd.to_string_lossy()))
}

/// Returns the path of a conversation's transcript. The file may be missing.
pub(crate) fn transcript(config_dir: &Path, cwd: &Path, id: &str) -> PathBuf {
    let name: String = id.chars().map(|c| if is_id_character(c) { c } else { '-' }).collect();
    transcripts_folder(config_dir, cwd).join(format!("{name}.jsonl"))
}

/// Returns the folder with the live entries of running agents.
pub(crate) fn live_folder(config_dir: &Path) -> PathBuf {
    config_dir.join(LIVE_FOLDER)
}

/// Returns whether a text is a valid conversation id. A valid id contains no path separator.
pub(crate) fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= ID_LIMIT_BYTES && text.chars().all(is_id_character)
}

fn is_id_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

fn folder_name(path: &str) -> String {
    let dashed: String =
        path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    if dashed.len() <= FOLDER_NAME_LIMIT_BYTES {
        return dashed;
    }
    format!("{}-{:016x}", &dashed[..FOLDER_NAME_LIMIT_BYTES], fnv1a(path.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::environment;

    #[test]
    fn config_dir_variable_overrides_the_default_folder() {
        let both = environment(&[("HOME", "/home/u"), (CONFIG_DIR_VARIABLE, "/srv/demo")]);
        assert_eq!(config_dir(&both).unwrap(), Path::new("/srv/demo"));
        let empty = environment(&[("HOME", "/home/u"), (CONFIG_DIR_VARIABLE, "")]);
        assert_eq!(config_dir(&empty).unwrap(), Path::new("/home/u/.segue-demo"));
    }

    #[test]
    fn missing_or_relative_config_dir_is_a_configuration_error() {
        assert_eq!(config_dir(&environment(&[])).unwrap_err().kind, segue_core::Kind::Config);
        let relative = environment(&[(CONFIG_DIR_VARIABLE, "here")]);
        assert!(config_dir(&relative).unwrap_err().message.contains("`here`"));
    }

    #[test]
    fn id_with_path_separators_stays_in_its_folder() {
        let path = transcript(Path::new("/h"), Path::new("/code/a b"), "../../x");
        assert_eq!(path, Path::new("/h/conversations/-code-a-b/------x.jsonl"));
        assert!(!is_id("../../x") && !is_id("") && is_id("0198-a_B"));
    }

    #[test]
    fn folder_name_shortens_long_paths_to_unique_names() {
        let long = |last| format!("/{}/{last}", "ü".repeat(400));
        let (first, second) = (folder_name(&long("a")), folder_name(&long("b")));
        assert_ne!(first, second);
        assert!(first.len() < 255, "{}", first.len());
    }
}
