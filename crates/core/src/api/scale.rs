//! Changing how many agents of a kind there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AgentOutcome, Caller, LeftAlone, StoppedSession};

/// `POST /v1/scale`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScaleRequest {
    #[schemars(default)]
    pub caller: Caller,
    /// The agent's name in the project file.
    pub agent: String,
    pub count: u32,
    pub fleet: Option<String>,
}

/// The result for each instance of the scaled agent, and the sessions that were stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleReport {
    pub agents: Vec<AgentOutcome>,
    pub stopped: Vec<StoppedSession>,
    /// Agents whose conversations continue in other sessions.
    #[serde(default)]
    pub left_alone: Vec<LeftAlone>,
    pub complete: bool,
}
