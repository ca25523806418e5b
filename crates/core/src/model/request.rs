//! A request that changes something, so that a client may send it again after a broken connection.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{MessageId, RequestId, SessionId, VendorSessionId};

/// Identifies one request of one caller. Two callers with the same id have two requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RequestKey {
    /// The session whose agent asks; `None` is the user.
    pub caller: Option<SessionId>,
    /// Made by the client.
    pub id: RequestId,
}

/// A step that a request has taken, stored in the same commit as the change that it made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestRecord {
    pub key: RequestKey,
    pub step: RequestStep,
    pub at: Timestamp,
}

/// What a request has done. A request has each step at most once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "step")]
pub enum RequestStep {
    /// `send` has queued this message.
    Queued { session: SessionId, message: MessageId },
    /// `run` has created this session together with its first launch.
    Created { session: SessionId },
    /// `adopt` has created this session for a conversation.
    Adopted { session: SessionId, conversation: VendorSessionId },
    /// `up --fresh` or `resume --fresh` has begun a new conversation in this session.
    Renewed { session: SessionId },
    /// `stop` is about to end the process of this session.
    Stopping { session: SessionId },
    /// `handoff` has recorded the session that the conversation goes on in.
    Carried { session: SessionId, characters: u64 },
    /// `answer` is about to press keys. Whether it did is unknown until the request is `Done`.
    Begun,
    /// The request is finished; a repeated request gets this answer, a JSON document.
    Done { answer: String },
}

impl RequestStep {
    /// Returns the name of the step, unique among the steps of one request.
    pub fn name(&self) -> String {
        match self {
            Self::Queued { .. } => "queued".to_owned(),
            Self::Created { .. } => "created".to_owned(),
            Self::Adopted { conversation, .. } => format!("adopted {conversation}"),
            Self::Renewed { session } => format!("renewed {session}"),
            Self::Stopping { session } => format!("stopping {session}"),
            Self::Carried { .. } => "carried".to_owned(),
            Self::Begun => "begun".to_owned(),
            Self::Done { .. } => "done".to_owned(),
        }
    }
}
