//! Waiting for a session's status.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SessionView;
use crate::word_enum::word_enum;

/// `POST /v1/wait`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitRequest {
    pub cwd: PathBuf,
    pub session: String,
    pub target: WaitTarget,
    /// `None` waits without a timeout.
    pub timeout_ms: Option<u64>,
}

word_enum! {
    /// The status to wait for.
    pub enum WaitTarget {
        Idle = "idle",
        Waiting = "waiting",
        Ended = "ended",
        /// Any status except `starting` and `working`.
        Rest = "rest",
    }
}

/// The session at the time when it reached the target, or when the timeout expired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitReport {
    #[serde(flatten)]
    pub session: SessionView,
    pub reached: bool,
    /// Why the session ended, if it does not run and the reason is known.
    #[serde(default)]
    pub why: Vec<String>,
}
