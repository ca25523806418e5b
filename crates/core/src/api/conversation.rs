//! Where a conversation can be read: the daemon only says that, whoever asked reads it.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Caller, SessionView};
use crate::model::{VendorDescription, VendorId, VendorSessionId};

/// `POST /v1/conversation`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConversationRequest {
    pub caller: Caller,
    /// A session, or `VENDOR:ID`.
    pub address: String,
    /// Also what was handed over to it, and from whom.
    pub story: bool,
}

/// The conversation, or with its story all that were handed over to it, the oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationReport {
    pub parts: Vec<ConversationPart>,
}

/// One conversation, and where it can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationPart {
    /// None for a conversation that no session has.
    pub session: Option<SessionView>,
    pub vendor: VendorId,
    /// What the project file says about a vendor of its own.
    pub description: Option<VendorDescription>,
    /// None while the vendor has not said which conversation it is.
    pub vendor_session_id: Option<VendorSessionId>,
    pub config_dir: PathBuf,
    pub cwd: PathBuf,
    /// None where nothing can be read.
    pub transcript: Option<PathBuf>,
    /// Something was said in it, so that the absence of a transcript is a loss.
    pub spoke: bool,
    /// How it took over from the part before it.
    pub taken_over: Option<TakenOver>,
}

/// How a conversation went over to another session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenOver {
    /// `native` or `digest`.
    pub mode: String,
    pub at: Timestamp,
}
