//! A project: the fleet and the agents that a project file defines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{
    AgentName, BranchName, Counts, Environment, FleetName, Permission, Restart, SessionSettings,
    Timer, VendorDescription, VendorId, WorktreeCommands, WorktreeOrder,
};

/// The name of a project file.
pub const PROJECT_FILE: &str = "segue.toml";

/// A fleet, its agents, and what the user has to trust about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The folder that contains the project file.
    pub folder: PathBuf,
    pub fleet: FleetName,
    pub agents: Vec<ProjectAgent>,
    /// The names of the agents as written in the file. With `count`, one name stands for several
    /// agents.
    pub kinds: Vec<AgentName>,
    pub vendors: DescribedVendors,
    pub worktrees: WorktreeSettings,
    pub templates: TaskTemplates,
    /// Everything that a user has to trust: settings that run a program, relax a permission, or
    /// reach an agent.
    pub claims: Vec<TrustClaim>,
}

/// How the worktrees of a project are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeSettings {
    /// The folder for worktrees, absolute. `None` for the folder in Segue's own data.
    pub root: Option<PathBuf>,
    /// Patterns, in the syntax of `.gitignore`, of untracked files that a new worktree gets as
    /// copies.
    pub include: Vec<String>,
    /// Folders of the project to which a new worktree gets symlinks.
    pub link: Vec<PathBuf>,
    pub commands: WorktreeCommands,
}

/// The templates of a project for the prompts of tasks. `None` means the built-in template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskTemplates {
    /// The template of a prompt that begins a conversation.
    pub task: Option<PromptTemplate>,
    /// The template of a prompt that continues a conversation.
    pub delta: Option<PromptTemplate>,
}

/// A template of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptTemplate {
    pub path: PathBuf,
    pub text: String,
}

/// The vendors that a project file defines.
pub type DescribedVendors = BTreeMap<VendorId, VendorDescription>;

/// An agent of a project, with the contents of its text files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectAgent {
    pub name: AgentName,
    pub vendor: VendorId,
    pub model: Option<String>,
    pub permission: Permission,
    pub instructions: Option<String>,
    pub prompt: Option<String>,
    pub restart: Restart,
    pub archive: bool,
    /// Whether launches get Segue's MCP server.
    pub mcp: bool,
    pub env: BTreeMap<String, String>,
    pub args: Vec<String>,
    pub timers: Vec<Timer>,
    /// The worktree in which the agent works. `None` if it works in the project's folder.
    pub worktree: Option<WorktreeOrder>,
}

impl ProjectAgent {
    /// Returns the settings of the agent's session. `description` is the project file's description
    /// of the agent's vendor, if there is one.
    pub fn settings(&self, description: Option<VendorDescription>) -> SessionSettings {
        SessionSettings {
            description,
            model: self.model.clone(),
            permission: self.permission,
            instructions: self.instructions.clone(),
            restart: self.restart,
            archive: self.archive,
            mcp: self.mcp,
            args: self.args.clone(),
            env: self.env.clone(),
        }
    }

    /// Returns the caller's environment with the variables that the project file sets for the
    /// agent. One of them may set the vendor's config directory.
    pub fn environment(&self, caller: &Environment) -> Environment {
        let mut environment = caller.clone();
        for (name, value) in &self.env {
            environment.set(name, value);
        }
        environment
    }
}

/// The recorded state of a fleet in which it differs from its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetScale {
    /// How many agents of each kind there are, if `segue scale` has changed the numbers of the file.
    pub counts: Counts,
    /// The names of the existing sessions. An agent that has a session keeps its name.
    pub sessions: BTreeSet<String>,
    /// The branches of the worktrees that sessions use, by their folders. A worktree that was restored
    /// onto a new branch has another branch than the file says.
    pub branches: BTreeMap<PathBuf, BranchName>,
}

/// One part of a project file that runs a program, relaxes a permission or reaches an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustClaim {
    /// The agent or vendor that the claim belongs to, and the setting or file that it comes from.
    pub what: String,
    /// The complete value, so that two different files never count as equal.
    pub value: String,
    /// Whether the value is a text for an agent, which is shown line by line.
    #[serde(default)]
    pub is_text: bool,
    /// The text to show to the user instead of the value. Older records do not have this field, and
    /// it is not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

impl TrustClaim {
    /// Creates a claim for a setting, which is shown in one line.
    pub fn setting(what: impl Into<String>, value: impl Into<String>) -> Self {
        Self { what: what.into(), value: value.into(), is_text: false, words: None }
    }

    /// Creates a claim for a text that an agent gets.
    pub fn text(what: impl Into<String>, value: impl Into<String>) -> Self {
        Self { what: what.into(), value: value.into(), is_text: true, words: None }
    }

    /// Sets the text to show instead of the value.
    #[must_use]
    pub fn in_words(self, words: impl Into<String>) -> Self {
        Self { words: Some(words.into()), ..self }
    }
}
