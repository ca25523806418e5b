//! Sources: the forges of the user's settings, from which deliveries and issues come.

use std::time::Duration;

use crate::model::{ForgeId, SourceName};

/// A forge of the user's settings. Its secrets are read when they are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgeSource {
    pub name: SourceName,
    pub forge: ForgeId,
    /// How often the forge is asked for issues whose deliveries were missed.
    pub interval: Duration,
    /// Whether the forge is also asked for comments and reviews, because it cannot send deliveries.
    pub is_polled: bool,
    /// Whether the settings have a token for the API.
    pub has_token: bool,
}
