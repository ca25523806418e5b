//! Starting the agents of a project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Caller;

/// `POST /v1/up`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UpRequest {
    #[schemars(default)]
    pub caller: Caller,
    pub agents: Vec<String>,
    pub fleet: Option<String>,
    pub fresh: Vec<String>,
    /// Also start agents that were ended on purpose.
    #[serde(default)]
    pub stopped: bool,
}
