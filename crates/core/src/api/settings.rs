//! Changing the settings of a session.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SessionView;
use crate::model::Permission;

/// `POST /v1/settings`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsRequest {
    pub cwd: PathBuf,
    pub session: String,
    /// The model of the next launch, as the vendor names it. Empty for the vendor's default. Missing
    /// if it does not change.
    #[serde(default)]
    pub model: Option<String>,
    /// Missing if it does not change.
    #[serde(default)]
    pub permission: Option<Permission>,
}

/// A session with its new settings. An agent that runs gets them with its next message: it is started
/// again in its conversation before the message is typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsReport {
    #[serde(flatten)]
    pub session: SessionView,
    /// The settings that have changed.
    pub changed: Vec<String>,
}
