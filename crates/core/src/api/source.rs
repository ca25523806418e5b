//! The forges of the user's settings, without their secrets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{ForgeId, ForgeSource, SourceName};

/// `GET /v1/sources`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceList {
    pub sources: Vec<SourceView>,
    /// Why a source or a rule cannot be used.
    pub problems: Vec<String>,
}

/// A forge of the user's settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceView {
    pub name: SourceName,
    pub forge: ForgeId,
    /// How often the forge is asked for what was missed.
    pub interval_seconds: u64,
    /// Whether the forge is also asked for comments and reviews, because it cannot send deliveries.
    pub is_polled: bool,
    pub has_token: bool,
}

impl From<ForgeSource> for SourceView {
    fn from(source: ForgeSource) -> Self {
        let ForgeSource { name, forge, interval, is_polled, has_token } = source;
        Self { name, forge, interval_seconds: interval.as_secs(), is_polled, has_token }
    }
}
