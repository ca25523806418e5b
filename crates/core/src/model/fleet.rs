//! Agents of a project that run together under one name.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AgentName, FleetName, SessionName, VendorId, VendorSessionId};

/// The agents of a project. One command brings all of them back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fleet {
    pub name: FleetName,
    /// The project folder. `None` for the fleet of sessions that were started outside any project.
    pub folder: Option<PathBuf>,
}

/// Number of agents by agent name, as set with `segue scale`. It overrides `count` of the project
/// file.
pub type Counts = BTreeMap<AgentName, u32>;

/// The contents of `fleets/<name>.json`: a copy for users and for `segue doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetRecord {
    pub fleet: FleetName,
    pub folder: Option<PathBuf>,
    pub agents: Vec<FleetMember>,
    /// Numbers that were set with `segue scale`.
    #[serde(default, skip_serializing_if = "Counts::is_empty")]
    pub counts: Counts,
    pub written_at: Timestamp,
}

/// One agent in a [`FleetRecord`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetMember {
    pub name: SessionName,
    pub agent: Option<AgentName>,
    pub vendor: VendorId,
    pub session: super::SessionId,
    pub session_id: Option<VendorSessionId>,
}

/// Records that the user allows a project file to run what it contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    pub folder: PathBuf,
    /// The trusted claims as JSON: everything in the file that runs a program, relaxes a permission
    /// or reaches an agent as text.
    pub claims: String,
    pub at: Timestamp,
}
