//! Agents that run together under one human name.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AgentName, FleetName, SessionName, VendorId, VendorSessionId};

/// A set of agents that one command brings back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fleet {
    pub name: FleetName,
    /// The project folder; none for the fleet of sessions that were started outside any project.
    pub folder: Option<PathBuf>,
}

/// How many agents of a kind there are, where somebody said so after the project file did.
pub type Counts = BTreeMap<AgentName, u32>;

/// What `fleets/<name>.json` holds: a copy for people and for `segue doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetRecord {
    pub fleet: FleetName,
    pub folder: Option<PathBuf>,
    pub agents: Vec<FleetMember>,
    /// What `segue scale` said.
    #[serde(default, skip_serializing_if = "Counts::is_empty")]
    pub counts: Counts,
    pub written_at: Timestamp,
}

/// One line of a [`FleetRecord`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetMember {
    pub name: SessionName,
    pub agent: Option<AgentName>,
    pub vendor: VendorId,
    pub session: super::SessionId,
    pub session_id: Option<VendorSessionId>,
}

/// A person's word that a project file may run what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    pub folder: PathBuf,
    /// Everything in the file that runs or loosens something or reaches an agent.
    pub digest: String,
    pub at: Timestamp,
}
