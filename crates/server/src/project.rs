//! The project file `segue.toml`: what is written there, and what it means.

mod settings;
mod source;
mod variables;
mod vendors;
mod written;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use segue_core::model::{AgentName, FleetName, Permission, Restart, VendorDescription, VendorId};
use segue_core::ports::Vendors;
use segue_core::{Error, Result};

pub(crate) use settings::{attention, default_vendor, longest_silence};
pub(crate) use vendors::Described;

use source::Source;
use written::Written;

const FILE: &str = "segue.toml";

/// A project: a fleet and its agents.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    pub(crate) folder: PathBuf,
    pub(crate) fleet: FleetName,
    pub(crate) agents: Vec<Agent>,
    pub(crate) vendors: Described,
}

/// A named worker, with its texts read.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) name: AgentName,
    pub(crate) vendor: VendorId,
    pub(crate) model: Option<String>,
    pub(crate) permission: Permission,
    pub(crate) instructions: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) restart: Restart,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) args: Vec<String>,
}

impl Project {
    /// Reads the project around a folder, if there is one.
    pub(crate) fn around(folder: &Path, vendors: &dyn Vendors) -> Result<Option<Self>> {
        root(folder).map(|root| Self::read(&root, vendors)).transpose()
    }

    pub(crate) fn read(folder: &Path, vendors: &dyn Vendors) -> Result<Self> {
        let source = Source::read(&folder.join(FILE))?;
        let written: Written = source.parse()?;
        written.mean(folder, &source, vendors)
    }

    pub(crate) fn agent(&self, name: &str) -> Result<&Agent> {
        self.agents.iter().find(|agent| agent.name.as_str() == name).ok_or_else(|| {
            let known: Vec<_> = self.agents.iter().map(|agent| agent.name.as_str()).collect();
            Error::not_found(format!("there is no agent `{name}` in `{}`", self.file().display()))
                .hint(format!("its agents are: {}", known.join(", ")))
        })
    }

    pub(crate) fn no_agents(&self) -> Error {
        Error::config(format!("there are no agents in `{}`", self.file().display()))
            .hint("add some; `segue init` in an empty folder writes an example")
    }

    fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// Returns one line for each thing that the file runs or loosens; trust is given to these.
    pub(crate) fn contents(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.vendors.iter().map(described).collect();
        for agent in &self.agents {
            lines.push(format!(
                "agent {}: {} with permission {}, arguments {:?}",
                agent.name,
                agent.vendor,
                agent.permission.word(),
                agent.args
            ));
            lines.extend(agent.env.iter().map(|(name, value)| {
                format!("agent {}: environment {name}={value:?}", agent.name)
            }));
        }
        lines
    }
}

fn described((name, vendor): (&VendorId, &VendorDescription)) -> String {
    let VendorDescription { command, new, resume, transcript } = vendor;
    format!("vendor {name}: {command:?}, new {new:?}, resume {resume:?}, transcript {transcript:?}")
}

/// Returns the nearest folder at or above this one that has a project file, whatever it is: one
/// that cannot be read is an error later, and not as good as none.
pub(crate) fn root(folder: &Path) -> Option<PathBuf> {
    let has_file = |folder: &&Path| fs::symlink_metadata(folder.join(FILE)).is_ok();
    folder.ancestors().find(has_file).map(Path::to_owned)
}

#[cfg(test)]
mod tests;
