//! An agent CLI that a project file describes.

use serde::{Deserialize, Serialize};

/// What `[vendors.NAME]` says: how to start it, and how to go on with a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VendorDescription {
    pub command: Vec<String>,
    /// Added on a fresh start, with `{id}` filled in; absent where it takes no id.
    pub new: Option<Vec<String>>,
    /// Added on a resume, with `{id}` filled in; absent where it cannot resume.
    pub resume: Option<Vec<String>>,
    /// Where its transcript is, with `{id}` and `~` filled in.
    pub transcript: Option<String>,
}
