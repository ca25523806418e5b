//! Decides the state of a message that was recovered from a damaged store.

use crate::model::MessageState;
use crate::rules::delivery::TranscriptEvidence;

/// What is known about the process to which a message may have been typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypingProcess {
    /// The holder is alive and types no message twice.
    Alive,
    /// The process is gone, so that the transcript is final.
    Gone,
    /// No process of the session has ever run.
    None,
}

/// Decides the state of a message. The damaged store may have lost its last commits, so a message
/// that is queued there may have been typed since. If this cannot be excluded, the message is
/// uncertain.
pub fn message_state(
    stored: &MessageState,
    process: TypingProcess,
    transcript: TranscriptEvidence,
) -> MessageState {
    if stored.is_settled() {
        return stored.clone();
    }
    match (process, transcript) {
        (TypingProcess::None, _) | (_, TranscriptEvidence::Lacks) => MessageState::Queued,
        // The same text may have been sent before, so its presence in the transcript proves
        // nothing.
        (_, TranscriptEvidence::Contains) => MessageState::Uncertain,
        (TypingProcess::Alive, TranscriptEvidence::Unknown) => MessageState::Queued,
        (TypingProcess::Gone, TranscriptEvidence::Unknown) => MessageState::Uncertain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TranscriptEvidence::{Contains, Lacks, Unknown};

    #[test]
    fn only_messages_that_may_have_been_typed_become_uncertain() {
        let (queued, uncertain) = (MessageState::Queued, MessageState::Uncertain);
        let table = [
            (TypingProcess::None, Unknown, &queued),
            (TypingProcess::None, Contains, &queued),
            (TypingProcess::Alive, Lacks, &queued),
            (TypingProcess::Alive, Unknown, &queued),
            (TypingProcess::Alive, Contains, &uncertain),
            (TypingProcess::Gone, Lacks, &queued),
            (TypingProcess::Gone, Unknown, &uncertain),
            (TypingProcess::Gone, Contains, &uncertain),
        ];
        for (process, transcript, wanted) in table {
            let state = message_state(&MessageState::Queued, process, transcript);
            assert_eq!(state, *wanted, "{process:?} {transcript:?}");
        }
        for settled in [MessageState::Delivered, MessageState::Cancelled, uncertain] {
            assert_eq!(message_state(&settled, TypingProcess::Gone, Unknown), settled);
        }
    }
}
