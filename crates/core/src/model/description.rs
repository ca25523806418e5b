//! A vendor that a project file describes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The contents of `[vendors.NAME]`: how to start the agent CLI and how to resume a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VendorDescription {
    pub command: Vec<String>,
    /// Arguments for a fresh start, with `{id}` filled in. `None` if the CLI accepts no id.
    pub new: Option<Vec<String>>,
    /// Arguments for a resume, with `{id}` filled in. `None` if the CLI cannot resume.
    pub resume: Option<Vec<String>>,
    /// Path of the transcript, with `{id}` and `~` filled in.
    pub transcript: Option<String>,
}
