//! Questions of git for a user name or a token.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::SecretText;

/// `POST /v1/git-credential`: asks for what git wants to know. Neither the request nor its answer is
/// logged or stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitCredentialRequest {
    /// The question, such as `Password for 'https://me@git.example.org': `.
    pub prompt: String,
    /// The ticket of a git command that the daemon runs.
    #[serde(default)]
    pub ticket: Option<SecretText>,
}

/// The answer to a question of git.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitCredentialAnswer {
    pub answer: SecretText,
}
