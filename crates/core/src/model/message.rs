//! A message to an agent.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{LaunchId, MessageId, SessionId, VendorSessionId};

/// Something that an agent is to be told, exactly once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub session: SessionId,
    pub text: String,
    pub state: MessageState,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// How far a message has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "of")]
pub enum MessageState {
    Queued,
    /// It is on its way: from now on only the transcript can tell whether it arrived.
    Typing(Trace),
    Delivered,
    /// Nobody can tell whether it arrived; it is not sent again.
    Uncertain,
    Cancelled,
}

/// To whom a message is being typed, and where it will be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    pub launch: LaunchId,
    /// None where the vendor chooses its own id: then it is the one that the launch is bound to.
    pub conversation: Option<VendorSessionId>,
    /// How long the transcript was before.
    pub offset: u64,
}

impl MessageState {
    /// Returns the word used in tables, JSON and the store.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Typing(_) => "typing",
            Self::Delivered => "delivered",
            Self::Uncertain => "uncertain",
            Self::Cancelled => "cancelled",
        }
    }

    /// Tells whether nothing more will happen to it.
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::Delivered | Self::Uncertain | Self::Cancelled)
    }
}
