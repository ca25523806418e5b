//! Trust in a project file.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /v1/trust`: asks what a project file would run, or trusts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustRequest {
    pub folder: PathBuf,
    /// The digest that was shown to the user. `None` if the request only asks and trusts nothing.
    pub digest: Option<String>,
}

/// A project file as the user sees it before trusting it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustView {
    pub folder: PathBuf,
    /// SHA-256 of everything that is trusted.
    pub digest: String,
    pub trusted: bool,
    /// Everything in the file that runs a program, relaxes a permission or reaches an agent, with
    /// the lines of the texts.
    pub contents: Vec<String>,
    /// The changes since the file was trusted. Empty if it was never trusted.
    #[serde(default)]
    pub changes: Vec<String>,
}
