//! A message to an agent.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{LaunchId, MessageId, SessionId, VendorSessionId};
use crate::word_enum::word_enum;

/// A text for an agent that is delivered exactly once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub session: SessionId,
    pub text: String,
    /// The text is a command of the vendor's program, such as `/init`.
    #[serde(default)]
    pub is_command: bool,
    pub state: MessageState,
    /// The agent that sent the message. `None` if a person or Segue itself sent it.
    #[serde(default)]
    pub sender: Option<MessageSender>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The agent that sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageSender {
    pub session: SessionId,
    /// Whether the agent has worked in the turn in which it sent the message, and not only talked to
    /// other agents. Also `true` if that is unknown.
    pub has_worked: bool,
}

/// A message to a session: who got it, and which agent sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangedMessage {
    pub to: SessionId,
    /// `None` if a person or Segue itself sent it.
    pub sender: Option<MessageSender>,
}

/// Delivery state of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "of")]
pub enum MessageState {
    Queued,
    /// The holder was asked to type the message. From now on only the transcript shows whether it
    /// arrived.
    Typing(TypingRecord),
    Delivered,
    /// It is unknown whether the message arrived. It is not sent again.
    Uncertain,
    Cancelled,
}

word_enum! {
    /// A [`MessageState`] without its details. Its words are the tags of a serialized
    /// [`MessageState`].
    pub enum MessageStateKind {
        Queued = "queued",
        Typing = "typing",
        Delivered = "delivered",
        Uncertain = "uncertain",
        Cancelled = "cancelled",
    }
}

/// The launch that a message is being typed to, and where to search for the message in the
/// transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypingRecord {
    pub launch: LaunchId,
    /// The conversation that gets the message. `None` if the vendor chooses the id. Then it is the
    /// conversation that the launch is bound to later.
    pub conversation: Option<VendorSessionId>,
    /// Length of the transcript before the message was typed, as `Transcripts::length` returned it.
    pub offset: u64,
}

impl MessageState {
    /// Returns the state without its details.
    pub fn kind(&self) -> MessageStateKind {
        match self {
            Self::Queued => MessageStateKind::Queued,
            Self::Typing(_) => MessageStateKind::Typing,
            Self::Delivered => MessageStateKind::Delivered,
            Self::Uncertain => MessageStateKind::Uncertain,
            Self::Cancelled => MessageStateKind::Cancelled,
        }
    }

    /// Returns the word used in tables, JSON and the store.
    pub fn word(&self) -> &'static str {
        self.kind().word()
    }

    /// Returns whether this state is final.
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::Delivered | Self::Uncertain | Self::Cancelled)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn tag_of_a_serialized_message_state_is_the_word_of_its_kind() {
        let launch = LaunchId::new(Uuid::from_u128(1));
        let all = [
            MessageState::Queued,
            MessageState::Typing(TypingRecord { launch, conversation: None, offset: 0 }),
            MessageState::Delivered,
            MessageState::Uncertain,
            MessageState::Cancelled,
        ];
        assert_eq!(all.each_ref().map(MessageState::kind).as_slice(), MessageStateKind::ALL);
        for state in all {
            assert_eq!(serde_json::to_value(&state).unwrap()["state"], state.word());
        }
    }
}
