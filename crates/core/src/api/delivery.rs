//! Deliveries of forges.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MaybeKnown;
use crate::model::{
    AgentName, DeliveryAction, DeliveryId, DeliveryStateKind, DeliverySummary, SourceName,
    StoredDeliveryState, TriggerKind,
};

/// `POST /v1/deliveries`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveriesRequest {
    /// Only deliveries of this source.
    #[serde(default)]
    pub source: Option<SourceName>,
    #[serde(default)]
    pub state: Option<DeliveryStateKind>,
    /// At most this many deliveries, the newest ones. `None` for 100.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// Deliveries, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryList {
    pub deliveries: Vec<DeliveryView>,
}

/// A page of deliveries, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryPage {
    pub deliveries: Vec<DeliveryView>,
    /// The cursor of the next page. `None` on the last one.
    pub next: Option<String>,
}

/// A delivery without its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryView {
    pub id: DeliveryId,
    pub source: SourceName,
    /// The id that the forge gave the delivery.
    pub forge_id: Option<String>,
    /// The forge's name of the event.
    pub event: Option<String>,
    pub received_at: Timestamp,
    /// The length of the body.
    pub bytes: u32,
    pub state: MaybeKnown<DeliveryStateKind>,
    /// Why the delivery was ignored, or has failed.
    pub reason: Option<String>,
    /// What the events of the delivery did.
    pub actions: Vec<DeliveryAction>,
    /// Whether headers and body are stored. They are removed from an old delivery.
    pub has_content: bool,
}

impl From<DeliverySummary> for DeliveryView {
    fn from(summary: DeliverySummary) -> Self {
        let state = summary.state.kind();
        let (reason, actions) = match summary.state {
            StoredDeliveryState::Received => (None, Vec::new()),
            StoredDeliveryState::Processed { actions } => (None, actions),
            StoredDeliveryState::Ignored { reason } | StoredDeliveryState::Failed { reason } => {
                (Some(reason), Vec::new())
            }
        };
        Self {
            id: summary.id,
            source: summary.source,
            forge_id: summary.forge_id,
            event: summary.event,
            received_at: summary.received_at,
            bytes: summary.bytes,
            state: state.into(),
            reason,
            actions,
            has_content: summary.has_content,
        }
    }
}

/// `POST /v1/deliveries/show` and `POST /v1/deliveries/replay`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliverySelector {
    /// An id, or its beginning.
    pub delivery: String,
}

/// A delivery with its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryReport {
    pub delivery: DeliveryView,
    /// The headers without those that contain secrets. Empty if `has_content` is false.
    pub headers: Vec<(String, String)>,
    /// The body as text. Bytes that are not UTF-8 are replaced. Empty if `has_content` is false.
    pub body: String,
}

/// `POST /v1/dispatch/test`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DispatchTestRequest {
    /// A stored delivery: its id, or the beginning of it.
    Delivery(String),
    /// A body that no forge has sent.
    Payload {
        source: SourceName,
        /// The forge's name of the event.
        event: String,
        body: String,
    },
}

/// What the rules make of a delivery. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchTestReport {
    pub source: SourceName,
    /// Why no rule can be about the delivery.
    pub ignored: Option<String>,
    pub events: Vec<TestedEvent>,
}

/// What the rules make of one event of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestedEvent {
    pub trigger: MaybeKnown<TriggerKind>,
    pub repository: String,
    pub rules: Vec<TestedRule>,
}

/// What one rule makes of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestedRule {
    /// The number of the rule in the settings. The first one is 1.
    pub rule: usize,
    pub agent: AgentName,
    /// Why the rule starts no task.
    pub reason: Option<String>,
    /// The task that the rule would add.
    pub task: Option<TestedTask>,
}

/// A task that would be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestedTask {
    pub repository: Option<String>,
    pub issue: Option<String>,
    pub branch: Option<String>,
    /// The whole prompt. The templates of the project are not applied.
    pub prompt: String,
}
