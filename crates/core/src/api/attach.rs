//! Attaching to a session's terminal.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SessionRef;
use crate::model::LaunchId;

/// `GET /v1/attach`: the socket at which the holder serves the session's terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttachPoint {
    #[serde(flatten)]
    pub of: SessionRef,
    pub launch: LaunchId,
    pub socket: PathBuf,
}
