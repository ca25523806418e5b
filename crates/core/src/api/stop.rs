//! Stopping sessions.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FailedTarget, Selection, SessionRef};
use crate::word_enum::word_enum;

/// `POST /v1/stop`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StopRequest {
    pub cwd: PathBuf,
    pub selection: Selection,
}

/// The response to `POST /v1/stop`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StopReport {
    pub stopped: Vec<StoppedSession>,
    /// Names that match no session, and sessions that could not be stopped.
    #[serde(default)]
    pub failed: Vec<FailedTarget>,
}

/// One line of a [`StopReport`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoppedSession {
    #[serde(flatten)]
    pub of: SessionRef,
    pub outcome: StopOutcome,
}

word_enum! {
    /// How a stop of one session ended.
    pub enum StopOutcome {
        Stopped = "stopped",
        /// The session was not running.
        NotRunning = "not_running",
    }
}
