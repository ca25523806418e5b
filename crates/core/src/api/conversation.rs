//! Where a conversation can be read. The daemon only returns the path; the client reads the file.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, MaybeKnown, SessionView};
use crate::model::{HandoffForm, SessionId, Turn, VendorDescription, VendorId, VendorSessionId};

/// `POST /v1/conversation`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConversationRequest {
    #[schemars(default)]
    pub caller: Caller,
    /// A session, or `VENDOR:ID`.
    pub address: String,
    /// Also include the earlier and later conversations that handoffs connect with it.
    pub story: bool,
}

/// The conversation. With `story`, all conversations that are linked to it by handoffs, oldest
/// first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationReport {
    pub parts: Vec<ConversationPart>,
}

/// A conversation and where it can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationPart {
    /// `None` if the conversation belongs to no session.
    pub session: Option<SessionView>,
    pub vendor: VendorId,
    /// The project file's description of the vendor, if the project file defines it.
    pub description: Option<VendorDescription>,
    /// `None` until the vendor has shown the id of the conversation.
    pub vendor_session_id: Option<VendorSessionId>,
    pub config_dir: PathBuf,
    pub cwd: PathBuf,
    /// `None` if there is no transcript to read.
    pub transcript: Option<PathBuf>,
    /// The conversation has content. If its transcript is missing, it is lost.
    #[serde(rename = "spoke", alias = "has_content")]
    pub has_content: bool,
    /// How the previous part was handed over to this one. `None` for the first part.
    pub taken_over: Option<TakenOver>,
}

/// How a conversation was handed over to another session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TakenOver {
    pub mode: MaybeKnown<HandoffForm>,
    pub at: Timestamp,
}

/// A part of a session's conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptPage {
    pub session: SessionId,
    pub vendor: VendorId,
    /// `None` until the vendor has shown the id of the conversation.
    pub vendor_session_id: Option<VendorSessionId>,
    /// Oldest first.
    pub turns: Vec<Turn>,
    /// The cursor of the turns before these. Missing if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The part of the story that the turns belong to. Only with `story`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<StoryPart>,
}

/// One of the conversations that handoffs connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoryPart {
    /// The first conversation has the number 0.
    pub number: u32,
    /// The address of the session that the conversation belongs to.
    pub address: String,
    /// How the previous part was handed over to this one. `None` for the first part.
    pub taken_over: Option<TakenOver>,
    /// Why the turns of this part cannot be read. `None` if they can be.
    pub unreadable: Option<String>,
}
