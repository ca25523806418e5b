//! Facts that happened; append-only.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{LaunchId, SessionId};

/// A fact with its place in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub seq: i64,
    #[serde(flatten)]
    pub fact: NewEvent,
}

/// A fact that is not in the log yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewEvent {
    pub at: Timestamp,
    pub session: Option<SessionId>,
    pub launch: Option<LaunchId>,
    pub kind: EventKind,
    /// One sentence for a person.
    pub text: String,
}

/// What sort of fact it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    SessionCreated,
    SessionRemoved,
    LaunchPlanned,
    LaunchStarted,
    LaunchEnded,
    Bound,
    BindingRefused,
    StatusChanged,
    LeftoversEnded,
    TranscriptRestored,
    TranscriptUnguarded,
    ArchiveDropped,
    RestartPlanned,
    GaveUp,
    Trusted,
    StoreRebuilt,
    TurnFailed,
    MessageQueued,
    MessageTyped,
    MessageDelivered,
    MessageUncertain,
    MessageCancelled,
    Answered,
    HandedOver,
    Renamed,
}

impl EventKind {
    /// Returns the word used in tables, JSON and the store.
    pub fn word(self) -> &'static str {
        match self {
            Self::SessionCreated => "session_created",
            Self::SessionRemoved => "session_removed",
            Self::LaunchPlanned => "launch_planned",
            Self::LaunchStarted => "launch_started",
            Self::LaunchEnded => "launch_ended",
            Self::Bound => "bound",
            Self::BindingRefused => "binding_refused",
            Self::StatusChanged => "status_changed",
            Self::LeftoversEnded => "leftovers_ended",
            Self::TranscriptRestored => "transcript_restored",
            Self::TranscriptUnguarded => "transcript_unguarded",
            Self::ArchiveDropped => "archive_dropped",
            Self::RestartPlanned => "restart_planned",
            Self::GaveUp => "gave_up",
            Self::Trusted => "trusted",
            Self::StoreRebuilt => "store_rebuilt",
            Self::TurnFailed => "turn_failed",
            Self::MessageQueued => "message_queued",
            Self::MessageTyped => "message_typed",
            Self::MessageDelivered => "message_delivered",
            Self::MessageUncertain => "message_uncertain",
            Self::MessageCancelled => "message_cancelled",
            Self::Answered => "answered",
            Self::HandedOver => "handed_over",
            Self::Renamed => "renamed",
        }
    }
}
