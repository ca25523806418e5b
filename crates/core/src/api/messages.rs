//! Messages to agents.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, FailedTarget, MaybeKnown, SessionRef, SessionView};
use crate::model::{Failure, MessageId, MessageStateKind};
use crate::word_enum::word_enum;

/// `POST /v1/send`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SendRequest {
    #[schemars(default)]
    pub caller: Caller,
    pub session: String,
    pub text: String,
    /// The text is a command of the vendor's program: a slash, a name and arguments.
    #[serde(default)]
    pub command: bool,
    /// Interrupt the agent's current turn first.
    pub interrupt: bool,
    pub until: Until,
    pub timeout_ms: u64,
}

/// The body of `POST /v1/sessions/{id}/messages`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MessageSendBody {
    #[schemars(default)]
    pub caller: Caller,
    pub text: String,
    /// The text is a command of the vendor's program: a slash, a name and arguments.
    #[serde(default)]
    pub command: bool,
    /// Interrupt the agent's current turn first.
    #[serde(default)]
    pub interrupt: bool,
    /// What the answer waits for.
    #[serde(default)]
    pub until: Until,
    /// How long the answer waits for it at most.
    #[serde(default)]
    pub timeout_ms: u64,
}

word_enum! {
    /// The event that a sender waits for.
    #[derive(Default)]
    pub enum Until {
        /// The message is recorded.
        #[default]
        Recorded = "recorded",
        /// The agent has got the message.
        Taken = "taken",
        /// The agent's turn is over.
        TurnEnded = "turn_ended",
    }
}

/// The current state of a sent message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SendReport {
    #[serde(flatten)]
    pub session: SessionView,
    pub message: MessageView,
    /// The turn that the sender waited for has ended.
    pub turn_ended: bool,
    /// The agent's answer at the end of that turn.
    pub answer: Option<String>,
    /// Why the turn failed.
    pub failure: Option<Failure>,
    /// Why the message has not arrived yet.
    pub note: Option<String>,
}

/// A message as `segue messages --json` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageView {
    pub id: MessageId,
    #[serde(flatten)]
    pub of: SessionRef,
    pub state: MaybeKnown<MessageStateKind>,
    pub text: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// `POST /v1/messages`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessagesRequest {
    pub cwd: PathBuf,
    /// Sessions or fleets. If empty, the messages of all sessions are listed.
    pub names: Vec<String>,
}

/// Messages, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageList {
    pub messages: Vec<MessageView>,
    /// Names that match no session.
    #[serde(default)]
    pub failed: Vec<FailedTarget>,
    /// The cursor of the next page. Missing in the last page, and in a list without pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// `POST /v1/messages/wait`: waits until the turn that a message began is over, or until the agent
/// asks a person a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageWaitRequest {
    pub message: MessageId,
    /// The id of a question that the caller knows already. The wait goes on while the agent asks it.
    /// Empty for a question that cannot be read from the screen.
    #[serde(default)]
    pub known_question: Option<String>,
}

/// `POST /v1/cancel`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelRequest {
    /// The id of a message, or the beginning of an id.
    pub message: String,
}
