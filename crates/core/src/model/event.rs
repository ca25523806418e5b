//! The event log: facts that happened. Events are only appended.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{LaunchId, SessionId};
use crate::word_enum::word_enum;

/// An event with its position in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub seq: i64,
    #[serde(flatten)]
    pub fact: NewEvent,
}

/// An event that is not in the log yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewEvent {
    pub at: Timestamp,
    pub session: Option<SessionId>,
    pub launch: Option<LaunchId>,
    pub kind: EventKind,
    /// One sentence for the user.
    pub text: String,
}

word_enum! {
    /// The category of an event.
    pub enum EventKind {
        SessionCreated = "session_created",
        SessionRemoved = "session_removed",
        LaunchPlanned = "launch_planned",
        LaunchStarted = "launch_started",
        LaunchEnded = "launch_ended",
        Bound = "bound",
        BindingRefused = "binding_refused",
        StatusChanged = "status_changed",
        LeftoversEnded = "leftovers_ended",
        TranscriptRestored = "transcript_restored",
        TranscriptUnguarded = "transcript_unguarded",
        ArchiveDropped = "archive_dropped",
        RestartPlanned = "restart_planned",
        GaveUp = "gave_up",
        Trusted = "trusted",
        StoreRebuilt = "store_rebuilt",
        TurnFailed = "turn_failed",
        MessageQueued = "message_queued",
        MessageTyped = "message_typed",
        MessageDelivered = "message_delivered",
        MessageUncertain = "message_uncertain",
        MessageCancelled = "message_cancelled",
        Answered = "answered",
        HandedOver = "handed_over",
        Renamed = "renamed",
        SettingsChanged = "settings_changed",
    }
}
