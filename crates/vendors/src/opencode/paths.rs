//! The paths of `OpenCode`'s files.

use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::{Environment, VendorSessionId};
use segue_core::ports::Place;

use crate::shared::config_dir;
use crate::shared::database::VendorDatabase;

/// The environment variable that names the parent of `OpenCode`'s data folder.
const DATA_VARIABLE: &str = "XDG_DATA_HOME";

const FOLDER_NAME: &str = "opencode";
const DATABASE_NAME: &str = "opencode.db";

/// The environment variable that names another database. It is removed, because Segue reads the
/// database in the session's config dir.
const DATABASE_VARIABLE: &str = "OPENCODE_DB";

/// The environment variables that `OpenCode` sets for its tools.
const NESTED_VARIABLES: [&str; 5] =
    ["AGENT", "OPENCODE", "OPENCODE_CLIENT", "OPENCODE_PID", "OPENCODE_TERMINAL"];

/// The prefix of every conversation id.
const ID_PREFIX: &str = "ses_";
const ID_LIMIT_BYTES: usize = 64;

/// Returns `OpenCode`'s data folder for this environment. It serves as the config dir.
pub(super) fn config_dir(environment: &Environment) -> Result<PathBuf> {
    let absolute = |name| environment.get(name).map(Path::new).filter(|path| path.is_absolute());
    let data = absolute(DATA_VARIABLE).map(Path::to_owned);
    let data = data.or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
    data.map(|data| data.join(FOLDER_NAME))
        .ok_or_else(|| config_dir::unknown("OpenCode", DATA_VARIABLE))
}

pub(super) fn prepare_environment(place: &Place, environment: &mut Environment) {
    environment.retain(|name| !NESTED_VARIABLES.contains(&name) && name != DATABASE_VARIABLE);
    let is_default = config_dir(environment).is_ok_and(|folder| folder == place.config_dir);
    if let Some(data) = place.config_dir.parent().filter(|_| !is_default) {
        environment.set(DATA_VARIABLE, data.to_string_lossy());
    }
}

/// Returns the path of the database with all conversations.
pub(super) fn database(config_dir: &Path) -> PathBuf {
    config_dir.join(DATABASE_NAME)
}

/// Opens the database with all conversations. `None` if the file does not exist.
pub(super) fn open_database(config_dir: &Path) -> Result<Option<VendorDatabase>> {
    VendorDatabase::open(&database(config_dir))
}

/// Returns the path of the database, joined with the conversation id. No file has this path.
pub(super) fn transcript(config_dir: &Path, id: &VendorSessionId) -> PathBuf {
    database(config_dir).join(id.as_str())
}

/// Returns whether a text is a valid conversation id.
pub(super) fn is_id(text: &str) -> bool {
    let rest = text.strip_prefix(ID_PREFIX).unwrap_or_default();
    let is_alphanumeric = rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    !rest.is_empty() && is_alphanumeric && text.len() <= ID_LIMIT_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::environment;

    #[test]
    fn config_dir_is_in_xdg_data_home_or_in_home() {
        for (variables, wanted) in [
            (vec![("HOME", "/h")], Some("/h/.local/share/opencode")),
            (vec![("HOME", "/h"), ("XDG_DATA_HOME", "/d")], Some("/d/opencode")),
            (vec![("HOME", "/h"), ("XDG_DATA_HOME", "")], Some("/h/.local/share/opencode")),
            (vec![("HOME", "h")], None),
        ] {
            let found = config_dir(&environment(&variables)).ok();
            assert_eq!(found, wanted.map(PathBuf::from), "{variables:?}");
        }
    }

    #[test]
    fn environment_selects_the_recorded_config_dir() {
        let place = Place { config_dir: "/h/.local/share/opencode".into(), cwd: "/code".into() };
        let mut same = environment(&[("HOME", "/h"), ("OPENCODE", "1"), ("OPENCODE_DB", "/x.db")]);
        prepare_environment(&place, &mut same);
        assert_eq!(same, environment(&[("HOME", "/h")]));
        let mut other = environment(&[("HOME", "/h"), ("XDG_DATA_HOME", "/other")]);
        prepare_environment(&place, &mut other);
        assert_eq!(other.get(DATA_VARIABLE), Some("/h/.local/share"));
    }

    #[test]
    fn only_a_prefixed_alphanumeric_text_is_an_id() {
        assert!(is_id("ses_1e25e9c870017VsDlKhr09XSVF"));
        for other in ["", "ses_", "msg_1", "ses_a/b", "ses_a b", &format!("ses_{:0>70}", 1)] {
            assert!(!is_id(other), "{other}");
        }
    }
}
