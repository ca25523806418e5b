//! The agents of a project file.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{AgentName, VendorId};

/// `POST /v1/agents`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentKindsRequest {
    /// The folder of the project, or a folder below it.
    pub folder: PathBuf,
}

/// The agents of the project file around a folder, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentKindList {
    /// The folder of the project file. `None` if there is none.
    pub project: Option<PathBuf>,
    pub agents: Vec<AgentKindView>,
}

/// An agent as a project file names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentKindView {
    pub name: AgentName,
    pub vendor: VendorId,
}
