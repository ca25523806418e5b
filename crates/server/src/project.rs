//! The project file `segue.toml`: what is written there, and what it means.

mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use segue_core::model::{AgentName, FleetName, Permission, Restart, VendorId};
use segue_core::{Error, Result};
use serde::Deserialize;

pub(crate) use settings::default_vendor;

const FILE: &str = "segue.toml";
const LARGEST_TEXT: u64 = 8 << 20;
/// More agents of one kind than anybody runs on one machine.
const MOST_OF_ONE: u32 = 100;

/// A project: a fleet and its agents.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    pub(crate) folder: PathBuf,
    pub(crate) fleet: FleetName,
    pub(crate) agents: Vec<Agent>,
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
    pub(crate) fn around(folder: &Path) -> Result<Option<Self>> {
        root(folder).map(|root| Self::read(&root)).transpose()
    }

    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let text = read_file(&path).map_err(|error| {
            Error::config(format!("cannot read `{}`", path.display())).caused_by(error)
        })?;
        let written: Written =
            toml::from_str(&text).map_err(|error| unreadable(&path, &text, &error))?;
        written.mean(folder, &path)
    }

    pub(crate) fn agent(&self, name: &str) -> Result<&Agent> {
        self.agents.iter().find(|agent| agent.name.as_str() == name).ok_or_else(|| {
            let known: Vec<_> = self.agents.iter().map(|agent| agent.name.as_str()).collect();
            Error::not_found(format!("there is no agent `{name}` in `{}`", self.file().display()))
                .hint(format!("its agents are: {}", known.join(", ")))
        })
    }

    fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// Returns one line for each thing that the file runs or loosens; trust is given to these.
    pub(crate) fn contents(&self) -> Vec<String> {
        let mut lines = Vec::new();
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

/// Returns the nearest folder at or above this one that has a project file.
pub(crate) fn root(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|it| it.join(FILE).is_file()).map(Path::to_owned)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    fleet: WrittenFleet,
    #[serde(default)]
    agents: Vec<toml::Spanned<WrittenAgent>>,
    vendors: Option<toml::Spanned<toml::Table>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFleet {
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAgent {
    name: String,
    vendor: String,
    #[serde(default = "one")]
    count: u32,
    model: Option<String>,
    effort: Option<String>,
    #[serde(default = "ask")]
    permission: Permission,
    instructions: Option<PathBuf>,
    prompt: Option<PathBuf>,
    worktree: Option<String>,
    #[serde(default)]
    fallback: Vec<String>,
    #[serde(default = "on_crash")]
    restart: Restart,
    archive: Option<bool>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    args: Vec<String>,
    timers: Option<toml::Value>,
}

fn one() -> u32 {
    1
}

fn ask() -> Permission {
    Permission::Ask
}

fn on_crash() -> Restart {
    Restart::OnCrash
}

impl Written {
    fn mean(self, folder: &Path, path: &Path) -> Result<Project> {
        if self.vendors.is_some() {
            return Err(not_built(path, "[vendors.*]"));
        }
        let fleet = match &self.fleet.name {
            Some(name) => FleetName::parse(name).map_err(|error| at(path, "fleet.name", error))?,
            None => FleetName::parse(&folder_name(folder))?,
        };
        let mut agents = Vec::new();
        for written in self.agents {
            agents.extend(written.into_inner().mean(folder, path)?);
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = agents.iter().find(|agent| !seen.insert(agent.name.clone())) {
            return Err(Error::config(format!("two agents are called `{}`", twice.name))
                .caused_by(format!("in `{}`", path.display()))
                .hint("give each agent a name of its own"));
        }
        fill_in(&fleet, &mut agents, path)?;
        Ok(Project { folder: folder.to_owned(), fleet, agents })
    }
}

/// A folder's name made into a name; a folder without one good letter is `project`.
fn folder_name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let trimmed: String = plain.trim_matches(['-', '_']).chars().take(64).collect();
    if trimmed.is_empty() { "project".to_owned() } else { trimmed }
}

impl WrittenAgent {
    fn mean(self, folder: &Path, path: &Path) -> Result<Vec<Agent>> {
        self.refuse_unbuilt(path)?;
        segue_core::rules::secrets::refuse_in_arguments(&self.args)
            .map_err(|error| at(path, "args", error))?;
        let read = |key: &str, file: &Option<PathBuf>| {
            file.as_ref().map(|file| read_text(folder, path, key, file)).transpose()
        };
        let instructions = read("instructions", &self.instructions)?;
        let prompt = read("prompt", &self.prompt)?;
        let names = match self.count {
            1 => vec![self.name.clone()],
            count @ 2..=MOST_OF_ONE => {
                (1..=count).map(|number| format!("{}-{number}", self.name)).collect()
            }
            count => {
                return Err(Error::config(format!("`count = {count}` of agent `{}`", self.name))
                    .caused_by(format!("in `{}`", path.display()))
                    .hint(format!("use a number from 1 to {MOST_OF_ONE}")));
            }
        };
        names
            .into_iter()
            .map(|name| {
                Ok(Agent {
                    name: AgentName::parse(&name)
                        .map_err(|error| at(path, "agents.name", error))?,
                    vendor: VendorId::new(self.vendor.clone()),
                    model: self.model.clone(),
                    permission: self.permission,
                    instructions: instructions.clone(),
                    prompt: prompt.clone(),
                    restart: self.restart,
                    env: self.env.clone(),
                    args: self.args.clone(),
                })
            })
            .collect()
    }

    fn refuse_unbuilt(&self, path: &Path) -> Result<()> {
        let unbuilt = [
            ("effort", self.effort.is_some()),
            ("worktree", self.worktree.is_some()),
            ("fallback", !self.fallback.is_empty()),
            ("archive", self.archive == Some(false)),
            ("timers", self.timers.is_some()),
        ];
        match unbuilt.iter().find(|(_, used)| *used) {
            Some((key, _)) => Err(not_built(path, key)),
            None => Ok(()),
        }
    }
}

fn read_text(folder: &Path, path: &Path, key: &str, file: &Path) -> Result<String> {
    let full = folder.join(file);
    read_file(&full).map_err(|error| {
        Error::config(format!("cannot read `{}`, the {key} of an agent", full.display()))
            .caused_by(error)
            .caused_by(format!("`{key}` in `{}`", path.display()))
            .hint(format!("write that file, or take `{key}` out"))
    })
}

/// Reads a text that a person wrote: a device or a pipe would never end.
fn read_file(path: &Path) -> io::Result<String> {
    let facts = fs::metadata(path)?;
    if !facts.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if facts.len() > LARGEST_TEXT {
        return Err(io::Error::other(format!("it is larger than {LARGEST_TEXT} bytes")));
    }
    fs::read_to_string(path)
}

/// Fills the variables of prompts and instructions in.
fn fill_in(fleet: &FleetName, agents: &mut [Agent], path: &Path) -> Result<()> {
    let names: Vec<String> = agents.iter().map(|agent| agent.name.to_string()).collect();
    for agent in agents {
        let own = agent.name.to_string();
        let peers: Vec<&str> =
            names.iter().filter(|name| **name != own).map(String::as_str).collect();
        for text in [&mut agent.prompt, &mut agent.instructions].into_iter().flatten() {
            if let Some(variable) =
                ["{{branch}}", "{{worktree}}"].iter().find(|it| text.contains(**it))
            {
                return Err(not_built(path, variable));
            }
            *text = text
                .replace("{{agent}}", &own)
                .replace("{{fleet}}", fleet.as_str())
                .replace("{{peers}}", &peers.join(", "));
        }
    }
    Ok(())
}

fn at(path: &Path, key: &str, error: Error) -> Error {
    Error { kind: segue_core::Kind::Config, ..error }
        .caused_by(format!("`{key}` in `{}`", path.display()))
}

fn not_built(path: &Path, what: &str) -> Error {
    Error::config(format!("`{what}` is not built yet"))
        .caused_by(format!("it is used in `{}`", path.display()))
        .hint(format!("take `{what}` out"))
}

fn unreadable(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let line =
        error.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
    Error::config(format!("`{}` line {line}: {}", path.display(), error.message()))
        .hint("correct that line; `segue init` in an empty folder writes an example")
}
