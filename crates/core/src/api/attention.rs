//! Sessions and plans that need a person.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SessionView;
use crate::model::{FleetName, PlanId, PlanName, PlanTaskName};

/// `GET /v1/attention`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttentionList {
    /// The most urgent session first.
    pub sessions: Vec<AttentionView>,
    /// The gates of plans that a person has to approve, the one that waits longest first. Empty if
    /// the caller may not read tasks.
    #[serde(default)]
    pub gates: Vec<PlanGateView>,
}

/// A task of a plan that a person has to approve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanGateView {
    pub plan: PlanId,
    pub plan_name: PlanName,
    pub fleet: FleetName,
    /// The folder of the project.
    pub folder: PathBuf,
    pub task: PlanTaskName,
    /// The agent that works on the task after the approval. `None` for a gate without work.
    pub agent: Option<String>,
    /// The beginning of the task's prompt, as the file has it. `None` for a gate without work.
    pub work: Option<String>,
    /// The tasks that wait for this one alone.
    pub releases: Vec<PlanTaskName>,
    /// What the approval starts, as a text for people.
    pub text: String,
    pub since: Timestamp,
    /// The command that approves it.
    pub command: String,
}

/// A session that needs a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttentionView {
    /// The word for the reason, such as `permission`.
    pub reason: String,
    /// The reason as a text for people.
    pub text: String,
    pub since: Timestamp,
    /// What a person can do about a failed turn.
    #[serde(default)]
    pub advice: Option<String>,
    /// A command that helps. Words in capitals are to be replaced.
    #[serde(default)]
    pub command: String,
    /// The session. Its `dialog` has the question and the choices, its `last_failure` why its last turn
    /// failed.
    pub session: SessionView,
}
