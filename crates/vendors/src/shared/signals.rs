//! Constructors for signals.

use segue_core::model::{Activity, Evidence, Failure, Signal, Source, VendorSessionId};

/// The process is in the conversation with this id.
pub(crate) fn conversation(id: impl Into<String>, evidence: Evidence) -> Signal {
    Signal::Conversation { id: VendorSessionId::new(id), evidence }
}

pub(crate) fn activity(activity: Activity, source: Source) -> Signal {
    Signal::Activity { activity, source }
}

/// A turn ended successfully, with this answer. The text is empty if the source does not contain
/// the answer.
pub(crate) fn answered(text: impl Into<String>) -> Signal {
    Signal::TurnEnded { ok: true, text: text.into(), failure: None }
}

/// A turn failed.
pub(crate) fn failed(text: impl Into<String>, failure: Failure) -> Signal {
    Signal::TurnEnded { ok: false, text: text.into(), failure: Some(failure) }
}

/// The user interrupted a turn.
pub(crate) fn interrupted() -> Signal {
    Signal::TurnEnded { ok: false, text: String::new(), failure: None }
}
