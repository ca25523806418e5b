//! `segue usage`: the tokens that sessions have used.

use jiff::Timestamp;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{AgentName, FleetName, Usage, UsageGrouping, VendorId};

/// `POST /v1/usage`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageRequest {
    /// Only usage from this time on.
    pub since: Option<Timestamp>,
    pub by: UsageGrouping,
}

/// The answer to a [`UsageRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageList {
    pub usage: Vec<UsageRow>,
    /// The sum of all rows.
    pub total: UsageRow,
}

/// What the sessions of an agent or of a vendor have used, or all sessions on one day. The fields
/// that do not identify the row are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageRow {
    pub fleet: Option<FleetName>,
    /// `None` in a row of agents stands for the sessions of the fleet that belong to no agent.
    pub agent: Option<AgentName>,
    pub vendor: Option<VendorId>,
    /// A day in UTC.
    pub day: Option<Date>,
    /// The number of sessions.
    pub sessions: usize,
    #[serde(flatten)]
    pub usage: Usage,
}
