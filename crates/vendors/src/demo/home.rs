//! Where the demo agent keeps its files.

use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::Environment;

use crate::stored;

/// Names the folder of the agent's files.
pub(crate) const HOME_VARIABLE: &str = "SEGUE_DEMO_HOME";

/// Set by the agent for its tools; an agent that finds it refuses to run inside another.
pub(crate) const NESTED_VARIABLE: &str = "SEGUE_DEMO_SESSION";

/// Stands for the key of an account; one that is `rejected` ends the agent at its start.
pub(crate) const KEY_VARIABLE: &str = "SEGUE_DEMO_KEY";

/// What the agent says then.
pub(crate) const KEY_REFUSED: &str = "authentication failed: the key was rejected";

const LONGEST_FOLDER_NAME: usize = 200;
const LONGEST_ID: usize = 64;

/// Returns the folder of the agent's files, given its environment.
pub(crate) fn home(environment: &Environment) -> Result<PathBuf> {
    let user = environment.get("HOME").filter(|value| !value.is_empty());
    let usual = user.map(|user| Path::new(user).join(".segue-demo"));
    stored::home(environment, ("the demo agent", HOME_VARIABLE), usual)
}

/// Returns the folder in which all transcripts are.
pub(crate) fn conversations(home: &Path) -> PathBuf {
    home.join("conversations")
}

/// Returns the folder in which the transcripts of one working folder are.
///
/// Different folders can get the same name (`a_b` and `a.b`), as with several real vendors: the
/// header of a transcript says which folder it belongs to.
pub(crate) fn transcripts(home: &Path, cwd: &Path) -> PathBuf {
    conversations(home).join(encode(&cwd.to_string_lossy()))
}

/// Returns where a conversation's transcript is, or would be.
pub(crate) fn transcript(home: &Path, cwd: &Path, id: &str) -> PathBuf {
    let plain: String = id.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    transcripts(home, cwd).join(format!("{plain}.jsonl"))
}

/// Returns the folder in which live agents say what they do.
pub(crate) fn live(home: &Path) -> PathBuf {
    home.join("live")
}

/// Tells whether a text can be the name of a conversation: nothing in it can leave its folder.
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
    format!("{}-{:016x}", &dashed[..LONGEST_FOLDER_NAME], fingerprint(path))
}

/// Returns the FNV-1a hash, which stays the same from one build to the next.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment::new(pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())))
    }

    #[test]
    fn the_variable_wins_over_the_users_home() {
        let both = environment(&[("HOME", "/home/u"), (HOME_VARIABLE, "/srv/demo")]);
        assert_eq!(home(&both).unwrap(), Path::new("/srv/demo"));
        let empty = environment(&[("HOME", "/home/u"), (HOME_VARIABLE, "")]);
        assert_eq!(home(&empty).unwrap(), Path::new("/home/u/.segue-demo"));
    }

    #[test]
    fn a_folder_that_cannot_be_known_is_a_configuration_error() {
        assert_eq!(home(&environment(&[])).unwrap_err().kind, segue_core::Kind::Config);
        let relative = environment(&[(HOME_VARIABLE, "here")]);
        assert!(home(&relative).unwrap_err().message.contains("`here`"));
    }

    #[test]
    fn a_hostile_id_stays_in_its_folder() {
        let path = transcript(Path::new("/h"), Path::new("/code/a b"), "../../x");
        assert_eq!(path, Path::new("/h/conversations/-code-a-b/------x.jsonl"));
        assert!(!is_id("../../x") && !is_id("") && is_id("0198-a_B"));
    }

    #[test]
    fn long_folders_get_short_names_that_still_differ() {
        let long = |last| format!("/{}/{last}", "ü".repeat(400));
        let (one, two) = (encode(&long("a")), encode(&long("b")));
        assert_ne!(one, two);
        assert!(one.len() < 255, "{}", one.len());
    }
}
