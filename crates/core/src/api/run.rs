//! Starting a session, and the end of a headless turn.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, SessionView, WorktreeRequest};
use crate::model::{Failure, Permission};

/// `POST /v1/run`
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunRequest {
    #[schemars(default)]
    pub caller: Caller,
    pub prompt: Option<String>,
    pub agent: Option<String>,
    pub vendor: Option<String>,
    pub name: Option<String>,
    pub cwd: Option<PathBuf>,
    pub model: Option<String>,
    pub permission: Option<Permission>,
    #[serde(default)]
    pub headless: bool,
    #[serde(default)]
    pub args: Vec<String>,
    /// The session works in this worktree.
    #[serde(default)]
    pub worktree: Option<WorktreeRequest>,
    /// Give the agent Segue's MCP server for its launches.
    #[serde(default)]
    pub mcp: bool,
}

/// How a headless turn ended, or what it waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnReport {
    #[serde(flatten)]
    pub session: SessionView,
    pub ok: bool,
    pub text: String,
    #[serde(default)]
    pub failure: Option<Failure>,
    /// The question that the agent asks a person. The turn has not ended then.
    #[serde(default)]
    pub question: Option<String>,
}
