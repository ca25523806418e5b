//! Requests and reports for handing a conversation over to another vendor.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, MaybeKnown, OutcomeNote, SessionRef};
use crate::model::{Dialog, HandoffForm, Role, Tool, Turn, VendorId};
use crate::rules::handoff::HandoffMode;
use crate::word_enum::word_enum;

/// `POST /v1/handoff`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HandoffRequest {
    #[schemars(default)]
    pub caller: Caller,
    /// The address of a session, or `vendor:id` for a conversation without a session.
    pub from: String,
    /// The vendor or the agent of the project that continues the conversation.
    pub to: String,
    pub name: Option<String>,
    pub mode: HandoffMode,
    /// Maximum size of the transferred turns, in characters.
    pub budget: Option<usize>,
    /// Interrupt the old agent's turn instead of waiting for its end.
    pub interrupt: bool,
    /// Only report what would be transferred.
    #[serde(default)]
    pub dry_run: DryRun,
}

word_enum! {
    /// Whether a handoff is a dry run, and what the dry run shows.
    #[derive(Default)]
    pub enum DryRun {
        #[default]
        No = "no",
        /// Shows the turns.
        Turns = "turns",
        /// Shows the turns and the content that the vendor's own file would have.
        Raw = "raw",
    }
}

/// The result of a handoff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffReport {
    /// The address of the session that the conversation comes from.
    pub from: String,
    /// The address of the session in which the conversation continues.
    pub to: String,
    /// The session in which the conversation continues.
    #[serde(flatten)]
    pub of: SessionRef,
    pub vendor: VendorId,
    /// The session runs one turn per launch and has no terminal.
    pub headless: bool,
    /// `native`, `digest`, or `plain` if there was nothing to transfer.
    pub mode: MaybeKnown<HandoffForm>,
    pub turns_carried: u64,
    /// `None` if the omitted turns were not counted.
    pub turns_left_out: Option<u64>,
    pub chars: u64,
    #[serde(flatten)]
    pub note: OutcomeNote,
    /// The question that the next agent shows to the user before it continues.
    #[serde(default)]
    pub dialog: Option<Dialog>,
    /// How many secrets were removed from the transferred text, by kind.
    #[serde(default)]
    pub redacted: BTreeMap<String, u64>,
    /// With a dry run: the turns that would be transferred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<CarriedTurn>,
    /// With a dry run: the message that would describe the conversation. With [`DryRun::Raw`]: the
    /// content that the vendor's own file would have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// A turn that would be transferred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CarriedTurn {
    pub role: Role,
    pub text: String,
    /// The name of the tool, if the turn is a tool call or a tool result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

impl CarriedTurn {
    pub fn new(turn: &Turn) -> Self {
        Self {
            role: turn.role,
            text: turn.text.clone(),
            tool: turn.tool.as_ref().map(|tool| tool.name.clone()),
            failed: turn.tool.as_ref().is_some_and(|tool| tool.failed),
            at: turn.at,
        }
    }

    /// Converts this turn into a [`Turn`] for display.
    pub fn to_turn(&self) -> Turn {
        let failed = self.failed;
        let tool = self.tool.clone().map(|name| Tool { id: String::new(), name, failed });
        Turn { tool, ..Turn::new(self.role, self.text.clone()).at(self.at) }
    }
}
