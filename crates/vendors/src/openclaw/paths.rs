//! The paths of OpenClaw's files.

use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::Environment;
use segue_core::ports::{Files, Place};

pub(super) use crate::shared::ids::is_uuid as is_id;

use crate::shared::{config_dir, files};

/// The environment variable that names OpenClaw's config dir.
const CONFIG_DIR_VARIABLE: &str = "OPENCLAW_STATE_DIR";

/// The environment variables that OpenClaw sets for its tools.
const NESTED_VARIABLES: [&str; 2] = ["OPENCLAW_SHELL", "OPENCLAW_CLI"];

/// Returns OpenClaw's config dir for this environment.
pub(super) fn config_dir(environment: &Environment) -> Result<PathBuf> {
    let set = |name| environment.get(name).filter(|value| !value.trim().is_empty());
    let named = set(CONFIG_DIR_VARIABLE).map(PathBuf::from);
    let found = named.or_else(|| set("HOME").map(|home| Path::new(home).join(".openclaw")));
    found
        .filter(|folder| folder.is_absolute())
        .ok_or_else(|| config_dir::unknown("OpenClaw", CONFIG_DIR_VARIABLE))
}

pub(super) fn prepare_environment(place: &Place, environment: &mut Environment) {
    environment.retain(|name| !NESTED_VARIABLES.contains(&name));
    environment.set(CONFIG_DIR_VARIABLE, place.config_dir.to_string_lossy());
}

/// Returns the path of the default agent's database. The file may be missing.
pub(super) fn default_database(config_dir: &Path) -> PathBuf {
    database(&config_dir.join("agents/main"))
}

/// Returns the existing databases of all agents.
pub(super) fn databases(files: &dyn Files, config_dir: &Path) -> Vec<PathBuf> {
    let agents = files.list(&config_dir.join("agents")).unwrap_or_default();
    let databases = agents.iter().map(|agent| database(agent));
    databases.filter(|path| files::exists(files, path)).collect()
}

fn database(agent: &Path) -> PathBuf {
    agent.join("agent/openclaw-agent.sqlite")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Home, environment};

    #[test]
    fn config_dir_variable_overrides_the_default_folder() {
        for (named, wanted) in [("/srv/claw", "/srv/claw"), ("", "/home/u/.openclaw")] {
            let found =
                config_dir(&environment(&[(CONFIG_DIR_VARIABLE, named), ("HOME", "/home/u")]));
            assert_eq!(found.unwrap(), Path::new(wanted));
        }
        for pairs in [vec![], vec![(CONFIG_DIR_VARIABLE, "here")]] {
            let error = config_dir(&environment(&pairs)).unwrap_err();
            assert_eq!(error.kind, segue_core::Kind::Config, "{pairs:?}");
        }
    }

    #[test]
    fn environment_names_the_recorded_config_dir_and_omits_variables_of_an_outer_agent() {
        let place = Place { config_dir: "/recorded".into(), cwd: "/code".into() };
        let mut found =
            environment(&[(CONFIG_DIR_VARIABLE, "/elsewhere"), ("OPENCLAW_SHELL", "exec")]);
        prepare_environment(&place, &mut found);
        assert_eq!(found.names(), [CONFIG_DIR_VARIABLE]);
        assert_eq!(found.get(CONFIG_DIR_VARIABLE), Some("/recorded"));
    }

    #[test]
    fn databases_lists_the_existing_databases_of_all_agents() {
        let home = Home::new();
        assert!(databases(&home.disk, &home.place.config_dir).is_empty());
        let default = home.write("agents/main/agent/openclaw-agent.sqlite", "");
        home.write("agents/empty/agent/other", "");
        assert_eq!(default_database(&home.place.config_dir), default);
        assert_eq!(databases(&home.disk, &home.place.config_dir), [default]);
    }
}
