//! The query parameters of routes that only read.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::{DeliveryStateKind, SourceName, StatusKind, TaskStateKind, UsageGrouping};

/// The query parameters of `GET /v1/sessions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionListQuery {
    /// Only the session with this conversation: the vendor's own id of it.
    pub vendor_id: Option<String>,
    /// Only sessions that have worked on this issue: its number.
    pub issue: Option<String>,
    /// With `issue`: only issues of this repository, as tasks name it.
    pub repository: Option<String>,
    /// Only sessions of this fleet.
    pub fleet: Option<String>,
    /// Only sessions with this status.
    pub status: Option<StatusKind>,
    /// At most this many sessions, from 1 to 1000. The default value is 100.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// The value of `next` in the previous page.
    pub cursor: Option<String>,
}

/// The query parameters of `GET /v1/tasks`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskListQuery {
    /// Only tasks in this state.
    pub state: Option<TaskStateKind>,
    /// Only tasks of this agent.
    pub agent: Option<String>,
    /// Only tasks about this issue: its number.
    pub issue: Option<String>,
    /// With `issue`: only issues of this repository, as tasks name it.
    pub repository: Option<String>,
    /// At most this many tasks, from 1 to 1000. The default value is 100.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// The value of `next` in the previous page.
    pub cursor: Option<String>,
}

/// The query parameters of `GET /v1/deliveries`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveryListQuery {
    /// Only deliveries of this source.
    pub source: Option<SourceName>,
    /// Only deliveries in this state.
    pub state: Option<DeliveryStateKind>,
    /// At most this many deliveries, from 1 to 1000. The default value is 100.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// The value of `next` in the previous page.
    pub cursor: Option<String>,
}

/// The query parameters of lists without filters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    /// At most this many items, from 1 to 1000. The default value is 100.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// The value of `next` in the previous page.
    pub cursor: Option<String>,
}

/// The query parameters of `GET /v1/sessions/{id}/transcript`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranscriptQuery {
    /// At most this many turns, from 1 to 1000. The default value is 100.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// The value of `next` in the previous page: the turns before it are returned. Without it, the
    /// last turns of the conversation are returned.
    pub before: Option<String>,
    /// Whether the pages continue with the conversations that handoffs led to this session from.
    /// Each page then has turns of one of them, and each turn is in one page.
    #[serde(default)]
    pub story: bool,
}

/// The query parameters of `GET /v1/worktrees/{id}/diff`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeDiffQuery {
    /// The revision to compare with. The default value is the default branch.
    pub base: Option<String>,
    /// Whether only the numbers of changed lines are wanted.
    #[serde(default)]
    pub only_stat: bool,
}

/// The query parameters of `GET /v1/usage`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsageQueryParameters {
    /// Only usage from this time on.
    pub since: Option<Timestamp>,
    /// How usage is added up. The default value is `agent`.
    pub by: Option<UsageGrouping>,
}

/// The query parameters of `GET /v1/events/stream`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventStreamQuery {
    /// Only events after this sequence number. Without it, and without the header `Last-Event-ID`,
    /// events from now on.
    pub after: Option<i64>,
    /// Only events of these sessions: ids, separated by commas.
    pub sessions: Option<String>,
    /// Only events of these kinds, separated by commas.
    pub kinds: Option<String>,
}
