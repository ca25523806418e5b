//! One conversation.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AgentName, FleetName, SessionId, SessionName, Status, VendorDescription, VendorId};

/// One conversation with an agent. It outlives processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "three answers that have no more to do with each other"
)]
pub struct Session {
    pub id: SessionId,
    pub name: SessionName,
    pub fleet: FleetName,
    pub agent: Option<AgentName>,
    pub vendor: VendorId,
    /// What the project file says about a vendor of its own.
    #[serde(default)]
    pub description: Option<VendorDescription>,
    /// The real path of the folder it works in.
    pub cwd: PathBuf,
    /// The vendor's configuration folder at the first launch.
    pub config_dir: PathBuf,
    pub model: Option<String>,
    pub permission: Permission,
    pub instructions: Option<String>,
    pub headless: bool,
    pub restart: Restart,
    /// Its conversations are copied into our own archive.
    #[serde(default = "by_default")]
    pub archive: bool,
    /// Arguments added to the vendor's own.
    pub args: Vec<String>,
    /// Variables from the project file: never secrets.
    pub env: BTreeMap<String, String>,
    /// The session whose agent started this one.
    pub parent: Option<SessionId>,
    pub status: Status,
    /// Something was said in the conversation that it is bound to: a transcript was seen, so that
    /// its absence is a loss.
    pub spoke: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Session {
    /// Returns `fleet/name`, the address that is unique on this machine.
    pub fn address(&self) -> String {
        format!("{}/{}", self.fleet, self.name)
    }
}

/// What was recorded before there was an archive is kept in it too.
fn by_default() -> bool {
    true
}

/// How much an agent may do without asking; ordered from tight to loose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    Ask,
    AcceptEdits,
    Auto,
}

impl Permission {
    /// Returns the word used in files and flags.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AcceptEdits => "accept-edits",
            Self::Auto => "auto",
        }
    }
}

/// What happens when the process ends by itself with a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    OnCrash,
    Never,
}
