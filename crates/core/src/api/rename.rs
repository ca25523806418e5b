//! Renaming a session.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SessionView;

/// `POST /v1/rename`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RenameRequest {
    pub cwd: PathBuf,
    pub session: String,
    /// The new name. No other session of the fleet may have it.
    pub name: String,
}

/// A session with its new name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RenameReport {
    #[serde(flatten)]
    pub session: SessionView,
    /// The address before.
    pub renamed_from: String,
}
