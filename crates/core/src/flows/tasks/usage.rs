//! Adds up what the sessions of a task have used.

use jiff::Timestamp;

use crate::error::Result;
use crate::flows::usage;
use crate::model::{Task, Usage};
use crate::ports::{Ports, UsageQuery};

/// Returns what the sessions of a task have used from its start until now. `None` if the vendor
/// reports nothing.
pub(super) async fn usage_of(ports: &Ports, task: &Task, now: Timestamp) -> Result<Option<Usage>> {
    let Some(started) = task.started_at else { return Ok(None) };
    let sessions = task.progress.sessions.clone();
    let query = UsageQuery { sessions: Some(sessions), since: Some(started), until: Some(now) };
    usage::sum(ports, &query).await
}
