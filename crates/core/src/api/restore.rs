//! The results of starting sessions and of bringing them back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FailedTarget, LeftAlone, OutcomeNote, SessionRef, SurplusSession};
use crate::model::{Dialog, VendorId, VendorSessionId};
use crate::word_enum::word_enum;

/// The result of bringing sessions back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RestoreReport {
    pub agents: Vec<AgentOutcome>,
    /// Sessions that were not brought back, for example because they were ended on purpose. They do
    /// not make the report incomplete.
    #[serde(default)]
    pub left_alone: Vec<LeftAlone>,
    /// Running sessions of agents that the project file does not contain any more.
    #[serde(default)]
    pub surplus: Vec<SurplusSession>,
    pub complete: bool,
    /// Names that match no session.
    #[serde(default)]
    pub failed: Vec<FailedTarget>,
}

impl RestoreReport {
    /// Creates a report. `failed` contains the names that match no session. The report is complete
    /// if `failed` is empty and no session is lost.
    pub fn new(
        agents: Vec<AgentOutcome>,
        left_alone: Vec<LeftAlone>,
        failed: Vec<FailedTarget>,
    ) -> Self {
        let complete = failed.is_empty() && agents.iter().all(|agent| !agent.lost);
        Self { agents, left_alone, surplus: Vec::new(), complete, failed }
    }
}

/// The result of bringing one session back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentOutcome {
    #[serde(flatten)]
    pub of: SessionRef,
    pub vendor: VendorId,
    pub outcome: Outcome,
    pub vendor_session_id: Option<VendorSessionId>,
    #[serde(flatten)]
    pub note: OutcomeNote,
    /// The question that the agent shows to the user.
    #[serde(default)]
    pub dialog: Option<Dialog>,
    /// The report is incomplete because of this session: it was refused, or it does not continue
    /// its earlier conversation.
    #[serde(default, skip_serializing)]
    pub lost: bool,
}

word_enum! {
    /// How a session came back.
    pub enum Outcome {
        Started = "started",
        /// The session was running already.
        Running = "running" | "attached",
        Resumed = "resumed",
        Restored = "restored",
        Adopted = "adopted",
        HandedOver = "handed_over",
        Fresh = "fresh",
        /// The session runs, and asks the user a question first.
        Waiting = "waiting",
        Refused = "refused",
    }
}
