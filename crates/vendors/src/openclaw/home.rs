//! Where OpenClaw keeps its files.

use std::path::{Path, PathBuf};

use segue_core::model::Environment;
use segue_core::ports::{Files, Place};
use segue_core::{Error, Result};
use uuid::Uuid;

/// Names the folder of OpenClaw's files.
const HOME_VARIABLE: &str = "OPENCLAW_STATE_DIR";

/// Set by OpenClaw for what it starts.
const NESTED: [&str; 2] = ["OPENCLAW_SHELL", "OPENCLAW_CLI"];

/// Returns the folder of OpenClaw's files, given an agent's environment.
pub(super) fn config_dir(environment: &Environment) -> Result<PathBuf> {
    let set = |name| environment.get(name).filter(|value| !value.trim().is_empty());
    let named = set(HOME_VARIABLE).map(PathBuf::from);
    let found = named.or_else(|| set("HOME").map(|home| Path::new(home).join(".openclaw")));
    found.filter(|folder| folder.is_absolute()).ok_or_else(|| {
        Error::config("cannot tell where OpenClaw keeps its files")
            .caused_by(format!("neither `{HOME_VARIABLE}` nor `HOME` is an absolute path"))
            .hint("run `export HOME=~` and try again")
    })
}

pub(super) fn prepare_environment(place: &Place, environment: &mut Environment) {
    environment.retain(|name| !NESTED.contains(&name));
    environment.set(HOME_VARIABLE, place.config_dir.to_string_lossy());
}

/// Returns where the database of the agent is that is there without any configuration.
pub(super) fn usual_database(config_dir: &Path) -> PathBuf {
    database(&config_dir.join("agents/main"))
}

/// Returns the databases of all agents.
pub(super) fn databases(files: &dyn Files, config_dir: &Path) -> Vec<PathBuf> {
    let agents = files.list(&config_dir.join("agents")).unwrap_or_default();
    let databases = agents.iter().map(|agent| database(agent));
    databases.filter(|path| matches!(files.facts(path), Ok(Some(_)))).collect()
}

fn database(agent: &Path) -> PathBuf {
    agent.join("agent/openclaw-agent.sqlite")
}

/// Tells whether a text is in the form that we give to ids.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 36 && Uuid::parse_str(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Home;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment::new(pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())))
    }

    #[test]
    fn the_folder_is_the_named_one_or_the_usual_one() {
        for (named, wanted) in [("/srv/claw", "/srv/claw"), ("", "/home/u/.openclaw")] {
            let found = config_dir(&environment(&[(HOME_VARIABLE, named), ("HOME", "/home/u")]));
            assert_eq!(found.unwrap(), Path::new(wanted));
        }
        for pairs in [vec![], vec![(HOME_VARIABLE, "here")]] {
            let error = config_dir(&environment(&pairs)).unwrap_err();
            assert_eq!(error.kind, segue_core::Kind::Config, "{pairs:?}");
        }
    }

    #[test]
    fn the_recorded_folder_is_pinned_and_no_outer_agent_is_left() {
        let place = Place { config_dir: "/recorded".into(), cwd: "/code".into() };
        let mut found = environment(&[(HOME_VARIABLE, "/elsewhere"), ("OPENCLAW_SHELL", "exec")]);
        prepare_environment(&place, &mut found);
        assert_eq!(found.names(), [HOME_VARIABLE]);
        assert_eq!(found.get(HOME_VARIABLE), Some("/recorded"));
    }

    #[test]
    fn every_agent_has_a_database() {
        let home = Home::new();
        assert!(databases(&home.disk, &home.place.config_dir).is_empty());
        let usual = home.write("agents/main/agent/openclaw-agent.sqlite", "");
        home.write("agents/empty/agent/other", "");
        assert_eq!(usual_database(&home.place.config_dir), usual);
        assert_eq!(databases(&home.disk, &home.place.config_dir), [usual]);
    }
}
