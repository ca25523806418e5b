//! Carrying a conversation over to another vendor.

use serde::{Deserialize, Serialize};

use super::Caller;
use crate::model::{Dialog, SessionId, VendorId};
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
    pub dry_run: bool,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffReport {
    /// The address of the session that the conversation is from.
    pub from: String,
    /// The address of the session that it goes on in.
    pub to: String,
    /// None while nothing was done.
    pub session: Option<SessionId>,
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
    /// Exactly what would be given to the vendor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}
