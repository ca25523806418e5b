//! Sessions that need a person.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SessionView;

/// `GET /v1/attention`: the most urgent session first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttentionList {
    pub sessions: Vec<AttentionView>,
}

/// A session that needs a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttentionView {
    /// The word for the reason, such as `permission`.
    pub reason: String,
    /// The reason as a text for people.
    pub text: String,
    pub since: Timestamp,
    /// What a person can do about a failed turn.
    #[serde(default)]
    pub advice: Option<String>,
    /// A command that helps. Words in capitals are to be replaced.
    #[serde(default)]
    pub command: String,
    /// The session. Its `dialog` has the question and the choices, its `last_failure` why its last turn
    /// failed.
    pub session: SessionView,
}
