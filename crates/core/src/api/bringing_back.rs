//! Sessions that `segue up` and `segue resume` do not change, and only report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MaybeKnown;
use crate::model::{AgentName, FleetName, SessionId, SessionName, VendorId};
use crate::rules::bringing_back::LeftAloneReason;

/// A session that is not brought back. `why` has the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftAlone {
    pub session: SessionId,
    pub name: SessionName,
    pub fleet: FleetName,
    pub address: String,
    pub vendor: VendorId,
    pub why: MaybeKnown<LeftAloneReason>,
    /// The address of the session in which the conversation continues, if it was handed over.
    pub goes_on_as: Option<String>,
}

/// A running session of an agent that the project file does not contain any more: the agent was
/// removed, or its `count` was lowered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SurplusSession {
    pub session: SessionId,
    pub name: SessionName,
    pub fleet: FleetName,
    pub address: String,
    pub agent: AgentName,
    pub vendor: VendorId,
    /// The command that stops the session.
    pub stop: String,
}
