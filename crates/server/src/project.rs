//! The project file `segue.toml`: reads it and resolves what it defines.

mod settings;
mod source;
mod variables;
mod vendors;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use segue_core::model::{
    AgentName, Counts, FleetName, Permission, Restart, SessionSettings, Timer, VendorDescription,
    VendorId,
};
use segue_core::ports::Vendors;
use segue_core::rules::address::{self, Unclear};
use segue_core::rules::scale;
use segue_core::rules::trust::Claim;
use segue_core::{Error, Result};

pub(crate) use settings::{
    archive_limit, attention, check as check_settings, check_names, default_vendor, longest_silence,
};
pub(crate) use vendors::Described;
pub(crate) use written::{MOST_OF_ONE, in_range};

use source::Source;
use written::Written;

const FILE: &str = "segue.toml";

/// A project: a fleet and its agents.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    pub(crate) folder: PathBuf,
    pub(crate) fleet: FleetName,
    pub(crate) agents: Vec<Agent>,
    /// The names of the agents as written in the file. With `count`, one name stands for several
    /// agents.
    pub(crate) kinds: Vec<AgentName>,
    pub(crate) vendors: Described,
    /// Everything that a user has to trust: settings that run a program, relax a permission, or
    /// reach an agent.
    pub(crate) claims: Vec<Claim>,
    source: Arc<Source>,
}

/// An agent of the project, with the contents of its text files.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) name: AgentName,
    pub(crate) vendor: VendorId,
    pub(crate) model: Option<String>,
    pub(crate) permission: Permission,
    pub(crate) instructions: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) restart: Restart,
    pub(crate) archive: bool,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) args: Vec<String>,
    pub(crate) timers: Vec<Timer>,
}

impl Agent {
    /// Returns the settings of the agent's session. `description` is that of its vendor, if the
    /// project file has one.
    pub(crate) fn settings(&self, description: Option<VendorDescription>) -> SessionSettings {
        SessionSettings {
            description,
            model: self.model.clone(),
            permission: self.permission,
            instructions: self.instructions.clone(),
            restart: self.restart,
            archive: self.archive,
            args: self.args.clone(),
            env: self.env.clone(),
        }
    }
}

/// How a fleet was changed since its file was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scaled {
    pub(crate) counts: Counts,
    /// The names of the existing sessions.
    pub(crate) sessions: BTreeSet<String>,
}

impl Project {
    /// Reads the project around a folder. `None` if there is none.
    pub(crate) fn around(folder: &Path, vendors: &dyn Vendors) -> Result<Option<Self>> {
        root(folder).map(|root| Self::read(&root, vendors)).transpose()
    }

    pub(crate) fn read(folder: &Path, vendors: &dyn Vendors) -> Result<Self> {
        let source = Arc::new(Source::read(&folder.join(FILE))?);
        Self::meant(folder, &source, (vendors, &Scaled::default()))
    }

    /// Returns the same project with the requested number of agents of each kind. No file is read
    /// again, so the texts stay those that the user has trusted.
    pub(crate) fn scaled(&self, vendors: &dyn Vendors, scaled: &Scaled) -> Result<Self> {
        let meant = Self::meant(&self.folder, &self.source, (vendors, scaled))?;
        Ok(Self { fleet: self.fleet.clone(), claims: self.claims.clone(), ..meant })
    }

    fn meant(
        folder: &Path,
        source: &Arc<Source>,
        (vendors, scaled): (&dyn Vendors, &Scaled),
    ) -> Result<Self> {
        let written: Written = source.parse()?;
        written.mean(folder, source, (vendors, scaled))
    }

    /// Returns the kind of agents with this name. Returns an error if the kind cannot be scaled.
    pub(crate) fn kind(&self, name: &str) -> Result<AgentName> {
        let known: Vec<_> = self.kinds.iter().map(AgentName::as_str).collect();
        let name = self.find(&known, name)?;
        let is_meant = |kind: &&AgentName| kind.as_str() == name;
        let kind = self.kinds.iter().find(is_meant).ok_or_else(|| self.unknown(name, &known))?;
        let others = self.kinds.iter().filter(|it| *it != kind);
        match others.into_iter().find(|it| scale::number(name, it.as_str()).is_some()) {
            None => Ok(kind.clone()),
            Some(other) => Err(Error::config(format!(
                "`{other}` is an agent of its own, and would be one of `{name}`"
            ))
            .hint(format!("give `{other}` another name in `{}`", self.file().display()))),
        }
    }

    /// Returns the agent with this name, or the only agent whose name has this prefix.
    pub(crate) fn agent(&self, name: &str) -> Result<&Agent> {
        let known = self.agent_names();
        let name = self.find(&known, name)?;
        self.agent_of_name(name).ok_or_else(|| self.unknown(name, &known))
    }

    /// Returns the agent with exactly this name.
    pub(crate) fn whole_agent(&self, name: &str) -> Result<&Agent> {
        self.agent_of_name(name).ok_or_else(|| self.unknown(name, &self.agent_names()))
    }

    pub(crate) fn agent_names(&self) -> Vec<&str> {
        self.agents.iter().map(|agent| agent.name.as_str()).collect()
    }

    fn agent_of_name(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name.as_str() == name)
    }

    fn find<'a>(&self, known: &[&'a str], name: &str) -> Result<&'a str> {
        let unknown = |unclear: Unclear| unclear.explain(name, self.unknown(name, known));
        address::find_name(known, name).map_err(unknown)
    }

    fn unknown(&self, name: &str, known: &[&str]) -> Error {
        Error::not_found(format!("there is no agent `{name}` in `{}`", self.file().display()))
            .hint(format!("its agents are: {}", known.join(", ")))
    }

    /// Returns the agents that a word means: the agent with this name, all agents of the only kind
    /// with this name or prefix, or the only agent with this prefix.
    pub(crate) fn agents_called(&self, word: &str) -> Result<Vec<&Agent>> {
        if let Some(agent) = self.agent_of_name(word) {
            return Ok(vec![agent]);
        }
        let kinds: Vec<&str> = self.kinds.iter().map(AgentName::as_str).collect();
        if let Ok(kind) = address::find_name(&kinds, word) {
            let of_kind = |it: &&Agent| scale::is_called(it.name.as_str(), kind);
            let all: Vec<&Agent> = self.agents.iter().filter(of_kind).collect();
            if !all.is_empty() {
                return Ok(all);
            }
        }
        self.agent(word).map(|agent| vec![agent])
    }

    pub(crate) fn no_agents(&self) -> Error {
        Error::config(format!("there are no agents in `{}`", self.file().display()))
            .hint("add some; `segue init` in an empty folder writes an example")
    }

    fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }
}

/// The longest path of a folder (`PATH_MAX`). A caller could send a much longer one, and checking
/// all folders above it would take very long.
const LONGEST_PATH: usize = 4096;

/// Returns the nearest folder at or above this one that contains a project file. The file may be
/// unreadable: then reading it fails later, which is better than ignoring it.
pub(crate) fn root(folder: &Path) -> Option<PathBuf> {
    if folder.as_os_str().len() > LONGEST_PATH {
        return None;
    }
    let has_file = |folder: &&Path| fs::symlink_metadata(folder.join(FILE)).is_ok();
    folder.ancestors().find(has_file).map(Path::to_owned)
}

#[cfg(test)]
mod tests;
