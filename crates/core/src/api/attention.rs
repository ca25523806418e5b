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
    /// The session. Its `dialog` has the question and the choices.
    pub session: SessionView,
}
