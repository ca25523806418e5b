//! Answering an agent's question.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Dialog;

/// `POST /v1/answer`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerRequest {
    pub cwd: PathBuf,
    pub session: String,
    /// `yes`, `no`, or a choice by its number or first words.
    pub answer: String,
    /// The id of the question to answer. If another question is on the screen, no answer is given.
    #[serde(default)]
    pub question: Option<String>,
}

/// The result of answering a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerReport {
    pub answered: bool,
    /// The question as it was on the screen.
    #[serde(default)]
    pub dialog: Option<Dialog>,
}
