//! Interrupting the turn of an agent.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SessionRef;
use crate::model::InterruptMethod;

/// `POST /v1/interrupt`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterruptRequest {
    pub cwd: PathBuf,
    pub session: String,
}

/// The session whose turn was interrupted. The agent may need some time to end the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterruptReport {
    #[serde(flatten)]
    pub of: SessionRef,
    pub method: InterruptMethod,
}
