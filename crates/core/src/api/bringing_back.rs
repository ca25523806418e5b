//! What `segue up` and `segue resume` leave as it is, and report.

use serde::{Deserialize, Serialize};

use crate::model::{AgentName, FleetName, SessionId, SessionName, VendorId};

/// A session that is left alone: it was ended on purpose, or never ran here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftAlone {
    pub session: SessionId,
    pub name: SessionName,
    pub fleet: FleetName,
    pub address: String,
    pub vendor: VendorId,
    /// `stopped`, `quit`, `handed_over` or `never_ran`.
    pub why: String,
    /// The address of the session in which its conversation goes on.
    pub goes_on_as: Option<String>,
}

/// A session that runs as an agent which the project file does not have any more: the agent was
/// removed from it, or its `count` lowered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurplusSession {
    pub session: SessionId,
    pub name: SessionName,
    pub fleet: FleetName,
    pub address: String,
    pub agent: AgentName,
    pub vendor: VendorId,
    /// The command that ends it.
    pub stop: String,
}

/// `POST /v1/resume/count`: what `segue resume` would do here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumeCount {
    /// How many sessions do not run and would be brought back.
    pub to_bring_back: usize,
}
