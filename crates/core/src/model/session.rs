//! One conversation.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    AgentName, FleetName, How, Repetition, SessionId, SessionName, Status, VendorDescription,
    VendorId,
};
use crate::word_enum::word_enum;

/// One conversation with an agent. It outlives the agent's processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four properties that are independent of each other"
)]
pub struct Session {
    pub id: SessionId,
    pub name: SessionName,
    /// The name by which `segue up` finds the session of an agent that a person has renamed. `None`
    /// if that is `name`.
    #[serde(default)]
    pub up_name: Option<SessionName>,
    pub fleet: FleetName,
    pub agent: Option<AgentName>,
    pub vendor: VendorId,
    /// The project file's description of the vendor, if the project defines its own.
    #[serde(default)]
    pub description: Option<VendorDescription>,
    /// The folder in which the agent works, without symlinks.
    pub cwd: PathBuf,
    /// The vendor's configuration folder at the first launch.
    pub config_dir: PathBuf,
    pub model: Option<String>,
    pub permission: Permission,
    pub instructions: Option<String>,
    pub headless: bool,
    pub restart: Restart,
    /// Whether the session's conversations are copied into the archive.
    #[serde(default = "archive_by_default")]
    pub archive: bool,
    /// Whether launches get Segue's MCP server.
    #[serde(default)]
    pub mcp: bool,
    /// Additional arguments for the vendor's program.
    pub args: Vec<String>,
    /// Environment variables from the project file. They are never secrets.
    pub env: BTreeMap<String, String>,
    /// The session whose agent started this session.
    pub parent: Option<SessionId>,
    pub status: Status,
    /// The bound conversation has content: its transcript was seen once. A transcript that is
    /// missing later is lost. `session.json` and the store call this `spoke`.
    #[serde(rename = "spoke", alias = "has_content")]
    pub has_content: bool,
    /// Work that repeats itself. `None` if none was noticed.
    #[serde(default)]
    pub repetition: Option<Repetition>,
    /// When a person changed settings. An agent that was started before is started again for its next
    /// message. `None` if no person has changed settings.
    #[serde(default)]
    pub settings_changed_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The names of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionNames {
    pub name: SessionName,
    /// As [`Session::up_name`].
    pub up_name: Option<SessionName>,
}

/// The part of a session that may change while the session exists: by the project file, or by a
/// person. A change takes effect with the next launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSettings {
    pub description: Option<VendorDescription>,
    pub model: Option<String>,
    pub permission: Permission,
    pub instructions: Option<String>,
    pub restart: Restart,
    pub archive: bool,
    pub mcp: bool,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            description: None,
            model: None,
            permission: Permission::Ask,
            instructions: None,
            restart: Restart::OnCrash,
            archive: true,
            mcp: false,
            args: Vec::new(),
            env: BTreeMap::new(),
        }
    }
}

impl SessionSettings {
    /// Returns the keys of the project file whose values differ and that change the next launch.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let is_different = [
            ("vendors", self.description != other.description),
            ("model", self.model != other.model),
            ("permission", self.permission != other.permission),
            ("instructions", self.instructions != other.instructions),
            ("mcp", self.mcp != other.mcp),
            ("args", self.args != other.args),
            ("env", self.env != other.env),
        ];
        is_different.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
    }
}

impl Session {
    pub fn settings(&self) -> SessionSettings {
        SessionSettings {
            description: self.description.clone(),
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

    /// Replaces the settings that come from the project file.
    pub fn configure(&mut self, settings: SessionSettings) {
        let SessionSettings {
            description,
            model,
            permission,
            instructions,
            restart,
            archive,
            mcp,
            args,
            env,
        } = settings;
        self.description = description;
        self.model = model;
        self.permission = permission;
        self.instructions = instructions;
        self.restart = restart;
        self.archive = archive;
        self.mcp = mcp;
        self.args = args;
        self.env = env;
    }

    /// Returns whether another session may have the worktree of this session: it is headless, and
    /// its last turn is over or its conversation is lost. `runs` tells whether it has a process.
    pub fn leaves_worktree(&self, runs: bool) -> bool {
        self.headless && !runs && (self.is_at_rest() || self.status == Status::Lost)
    }

    /// Returns whether nothing happens in the session until a request names it: its user ended it,
    /// or it is headless and its last turn is over.
    pub fn is_at_rest(&self) -> bool {
        match self.status {
            Status::Ended(How::Quit | How::Stopped | How::TurnFailed | How::Failed(_)) => true,
            Status::Idle => self.headless,
            Status::Ended(How::Crashed(_) | How::NeverStarted)
            | Status::Starting
            | Status::Working
            | Status::Waiting(_)
            | Status::Interrupted
            | Status::Lost => false,
        }
    }

    /// Returns whether a process that was started at `launched_at` runs with other settings than the
    /// session has now.
    pub fn has_new_settings_since(&self, launched_at: Timestamp) -> bool {
        self.settings_changed_at.is_some_and(|changed_at| changed_at > launched_at)
    }

    /// Returns the name by which `segue up` finds the session of an agent. It stays the same if a
    /// person renames the session.
    pub fn name_for_up(&self) -> &SessionName {
        self.up_name.as_ref().unwrap_or(&self.name)
    }

    /// Returns `fleet/name`, which is unique on this machine.
    pub fn address(&self) -> String {
        format!("{}/{}", self.fleet, self.name)
    }
}

/// Default of `Session::archive` for records that were written before the archive existed.
fn archive_by_default() -> bool {
    true
}

word_enum! {
    /// What an agent may do without asking, ordered from strict to loose.
    #[derive(PartialOrd, Ord)]
    pub enum Permission {
        Ask = "ask",
        AcceptEdits = "accept-edits",
        Auto = "auto",
    }
}

word_enum! {
    /// What to do when the process ends by itself with a failure.
    pub enum Restart {
        OnCrash = "on-crash",
        Never = "never",
    }
}
