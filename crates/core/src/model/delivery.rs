//! Deliveries as they are stored, and what became of them.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{AgentName, DeliveryHeaders, DeliveryId, SourceName, TaskId, TriggerKind};
use crate::word_enum::word_enum;

/// A delivery that was verified and stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub summary: DeliverySummary,
    /// The headers without those that contain secrets.
    pub headers: DeliveryHeaders,
    pub body: Vec<u8>,
    /// The SHA-256 digest of the body, in hexadecimal digits. A forge repeats a delivery with the
    /// same body, and an attacker who repeats one cannot sign another body.
    pub digest: String,
}

/// A delivery without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliverySummary {
    pub id: DeliveryId,
    pub source: SourceName,
    /// The id that the forge gave the delivery.
    pub forge_id: Option<String>,
    /// The forge's name of the event.
    pub event: Option<String>,
    pub received_at: Timestamp,
    /// The length of the body.
    pub bytes: u32,
    pub state: StoredDeliveryState,
    /// Whether headers and body are stored. They are removed from an old delivery.
    pub has_content: bool,
}

/// What became of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "of")]
pub enum StoredDeliveryState {
    /// The delivery is stored, and nothing has been done about it yet.
    Received,
    /// The events of the delivery were compared with the rules.
    Processed { actions: Vec<DeliveryAction> },
    /// No rule can be about the delivery.
    Ignored { reason: String },
    /// The delivery cannot be read, or the forge could not be asked.
    Failed { reason: String },
}

word_enum! {
    /// A [`StoredDeliveryState`] without its details. Its words are the tags of a serialized state.
    pub enum DeliveryStateKind {
        Received = "received",
        Processed = "processed",
        Ignored = "ignored",
        Failed = "failed",
    }
}

impl StoredDeliveryState {
    pub fn kind(&self) -> DeliveryStateKind {
        match self {
            Self::Received => DeliveryStateKind::Received,
            Self::Processed { .. } => DeliveryStateKind::Processed,
            Self::Ignored { .. } => DeliveryStateKind::Ignored,
            Self::Failed { .. } => DeliveryStateKind::Failed,
        }
    }
}

/// What one event of a delivery did, or one rule made of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryAction {
    pub trigger: TriggerKind,
    /// The agent of the rule. `None` if the action is not that of a rule.
    pub agent: Option<AgentName>,
    #[serde(flatten)]
    pub outcome: ActionOutcome,
}

/// The outcome of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum ActionOutcome {
    TaskAdded {
        task: TaskId,
    },
    /// The task was added before, for an earlier delivery about the same event.
    TaskKnown {
        task: TaskId,
    },
    /// A rule is about the event, but nothing was done.
    Refused {
        reason: String,
    },
    /// The issue is closed: its sessions end after their turns, and their worktrees are removed.
    Closed {
        issue: String,
    },
    /// The issue is open again: later work continues its conversations.
    Reopened {
        issue: String,
    },
    /// The pull request is from the branch of an agent, and belongs to its issue.
    Linked {
        issue: String,
        pull: u64,
    },
    /// No rule is about the event.
    NoRule,
}

impl fmt::Display for DeliveryAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.trigger.word())?;
        if let Some(agent) = &self.agent {
            write!(f, " for {agent}")?;
        }
        match &self.outcome {
            ActionOutcome::TaskAdded { task } => write!(f, ": task {task} added"),
            ActionOutcome::TaskKnown { task } => write!(f, ": task {task} was added before"),
            ActionOutcome::Refused { reason } => write!(f, ": refused: {reason}"),
            ActionOutcome::Closed { issue } => write!(f, ": issue {issue} is closed"),
            ActionOutcome::Reopened { issue } => write!(f, ": issue {issue} is open again"),
            ActionOutcome::Linked { issue, pull } => {
                write!(f, ": pull request #{pull} belongs to issue {issue}")
            }
            ActionOutcome::NoRule => f.write_str(": no rule"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_of_a_serialized_delivery_state_is_the_word_of_its_kind() {
        let all = [
            StoredDeliveryState::Received,
            StoredDeliveryState::Processed { actions: Vec::new() },
            StoredDeliveryState::Ignored { reason: "a ping".to_owned() },
            StoredDeliveryState::Failed { reason: "no object".to_owned() },
        ];
        assert_eq!(
            all.each_ref().map(StoredDeliveryState::kind).as_slice(),
            DeliveryStateKind::ALL
        );
        for state in all {
            assert_eq!(serde_json::to_value(&state).unwrap()["state"], state.kind().word());
        }
    }
}
