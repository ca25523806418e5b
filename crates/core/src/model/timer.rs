//! What is said to an agent again and again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Something that is said to an agent every so often while it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timer {
    pub every: Duration,
    pub prompt: String,
    /// What the agent does then is broken off.
    pub interrupt: bool,
}
