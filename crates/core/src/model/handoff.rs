//! A conversation that continues in another session.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{SessionId, VendorSessionId};
use crate::word_enum::word_enum;

/// One step of a conversation from one session to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    pub from: SessionId,
    pub to: SessionId,
    /// The vendor's session ids at the time of the handoff. `None` if the vendor had not chosen one
    /// yet.
    pub from_conversation: Option<VendorSessionId>,
    pub to_conversation: Option<VendorSessionId>,
    pub form: HandoffForm,
    pub turns_carried: u64,
    /// `None` if the turns were not counted.
    pub turns_left_out: Option<u64>,
    pub at: Timestamp,
}

word_enum! {
    /// The form in which a conversation was handed over.
    pub enum HandoffForm {
        /// As turns in the target vendor's own transcript.
        Native = "native",
        /// As one message that summarizes the conversation.
        Digest = "digest",
        /// The conversation was empty.
        Plain = "plain",
    }
}
