//! A conversation that went on under another session.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{SessionId, VendorSessionId};

/// One step of a conversation from a session to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    pub from: SessionId,
    pub to: SessionId,
    /// The vendors' own ids, at the moment of the step; none where the vendor had yet to choose it.
    pub from_conversation: Option<VendorSessionId>,
    pub to_conversation: Option<VendorSessionId>,
    pub form: Form,
    pub turns_carried: u64,
    /// None where nobody counted them.
    pub turns_left_out: Option<u64>,
    pub at: Timestamp,
}

/// In which form a conversation was carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As turns, in the target's own transcript.
    Native,
    /// As one message that tells about it.
    Digest,
    /// There was nothing to carry.
    Plain,
}

impl Form {
    /// Returns the word used in tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Digest => "digest",
            Self::Plain => "plain",
        }
    }
}
