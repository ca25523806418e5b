//! A prompt that is sent to an agent periodically.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A prompt that is sent to an agent at a fixed interval while the agent runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timer {
    pub every: Duration,
    pub prompt: String,
    /// Whether the agent's current turn is interrupted for the prompt.
    pub interrupt: bool,
}
