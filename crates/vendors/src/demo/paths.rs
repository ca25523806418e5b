//! The paths of the demo agent's files.

use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::Environment;

use crate::shared::config_dir;
use crate::shared::hash::fnv1a;

/// The environment variable that names the agent's home folder.
pub(crate) const CONFIG_DIR_VARIABLE: &str = "SEGUE_DEMO_HOME";

/// The environment variable that the agent sets for its tools. An agent that finds it set refuses
/// to start, because it would run inside another agent.
pub(crate) const NESTED_VARIABLE: &str = "SEGUE_DEMO_SESSION";

/// The environment variable that stands for an API key. If it is `rejected`, the agent exits at its
/// start.
pub(crate) const KEY_VARIABLE: &str = "SEGUE_DEMO_KEY";

/// The error message of an agent with a rejected key.
pub(crate) const KEY_REFUSED: &str = "authentication failed: the key was rejected";

/// The folder of the registry, in which each running agent has an entry.
pub(crate) const REGISTRY: &str = "live";

const LONGEST_FOLDER_NAME: usize = 200;
const LONGEST_ID: usize = 64;

/// Returns the agent's home folder, given its environment.
pub(crate) fn config_dir(environment: &Environment) -> Result<PathBuf> {
    let default = config_dir::below_home(environment, ".segue-demo");
    config_dir::from_variable(environment, ("the demo agent", CONFIG_DIR_VARIABLE), default)
}

/// Returns the folder that contains all transcripts.
pub(crate) fn conversations(home: &Path) -> PathBuf {
    home.join("conversations")
}

/// Returns the folder with the transcripts of one working folder.
///
/// Different folders can get the same name (`a_b` and `a.b`), as with several real vendors. The
/// header of a transcript names the folder that it belongs to.
pub(crate) fn transcripts(home: &Path, cwd: &Path) -> PathBuf {
    conversations(home).join(encode(&cwd.to_string_lossy()))
}

/// Returns the path of a conversation's transcript. The file may be missing.
pub(crate) fn transcript(home: &Path, cwd: &Path, id: &str) -> PathBuf {
    let plain: String = id.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    transcripts(home, cwd).join(format!("{plain}.jsonl"))
}

/// Returns the folder with the live entries of running agents.
pub(crate) fn live(home: &Path) -> PathBuf {
    home.join(REGISTRY)
}

/// Returns whether a text can be the id of a conversation. No character of an id can lead out of
/// its folder.
pub(crate) fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_ID && text.chars().all(is_plain)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

fn encode(path: &str) -> String {
    let dashed: String =
        path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    if dashed.len() <= LONGEST_FOLDER_NAME {
        return dashed;
    }
    format!("{}-{:016x}", &dashed[..LONGEST_FOLDER_NAME], fnv1a(path.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::environment;

    #[test]
    fn home_variable_overrides_the_default_folder() {
        let both = environment(&[("HOME", "/home/u"), (CONFIG_DIR_VARIABLE, "/srv/demo")]);
        assert_eq!(config_dir(&both).unwrap(), Path::new("/srv/demo"));
        let empty = environment(&[("HOME", "/home/u"), (CONFIG_DIR_VARIABLE, "")]);
        assert_eq!(config_dir(&empty).unwrap(), Path::new("/home/u/.segue-demo"));
    }

    #[test]
    fn missing_or_relative_home_folder_is_a_configuration_error() {
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
    fn encode_shortens_long_paths_to_unique_names() {
        let long = |last| format!("/{}/{last}", "ü".repeat(400));
        let (one, two) = (encode(&long("a")), encode(&long("b")));
        assert_ne!(one, two);
        assert!(one.len() < 255, "{}", one.len());
    }
}
