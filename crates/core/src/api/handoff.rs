//! Carrying a conversation over to another vendor.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Caller, SessionRef};
use crate::model::{Dialog, Role, Tool, Turn, VendorId};
use crate::rules::handoff::Mode;

/// `POST /v1/handoff`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HandoffRequest {
    pub caller: Caller,
    /// A session, or `vendor:id`.
    pub from: String,
    /// A vendor, or an agent of the project.
    pub to: String,
    pub name: Option<String>,
    pub mode: Mode,
    /// In characters.
    pub budget: Option<usize>,
    /// Does not wait for the end of the old agent's turn.
    pub interrupt: bool,
    /// Only says what would be carried.
    #[serde(default)]
    pub dry_run: DryRun,
}

/// Whether anything is carried, or only shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DryRun {
    #[default]
    No,
    /// Shows the turns.
    Turns,
    /// Shows the turns, and what the vendor's own file would contain.
    Raw,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffReport {
    /// The address of the session that the conversation is from.
    pub from: String,
    /// The address of the session that it goes on in.
    pub to: String,
    /// The session that it goes on in.
    #[serde(flatten)]
    pub of: SessionRef,
    pub vendor: VendorId,
    /// It goes on turn by turn, and has no terminal.
    pub headless: bool,
    /// `native`, `digest`, or `plain` where there was nothing to carry.
    pub mode: String,
    pub turns_carried: u64,
    /// None where nobody counted them.
    pub turns_left_out: Option<u64>,
    pub chars: u64,
    pub note: Option<String>,
    /// What the next agent asks a person before it goes on.
    #[serde(default)]
    pub dialog: Option<Dialog>,
    /// How many secrets of which kind are not in what is carried.
    #[serde(default)]
    pub redacted: BTreeMap<String, u64>,
    /// With a dry run: the turns that would be carried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<CarriedTurn>,
    /// With a dry run: the message that would tell of the conversation, or what the vendor's own
    /// file would contain if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// A turn that would be carried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedTurn {
    pub role: Role,
    pub text: String,
    /// The name of the tool of a call or a result.
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

    /// Returns it as a turn, for whoever shows turns.
    pub fn to_turn(&self) -> Turn {
        let failed = self.failed;
        let tool = self.tool.clone().map(|name| Tool { id: String::new(), name, failed });
        Turn { tool, ..Turn::new(self.role, self.text.clone()).at(self.at) }
    }
}
