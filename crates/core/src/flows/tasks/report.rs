//! Reports the end of a task to the session of its parent.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::model::{ChildReport, MessageId, SessionId, Task, TaskId};
use crate::ports::{Change, Commit, Conflict, Ports, TaskQuery};
use crate::rules::tasks::report_text;

/// Returns the change that records the report of a task that has ended. `None` if the task has no
/// parent. It belongs into the commit of the end.
pub(super) fn due(ports: &Ports, ended: &Task) -> Option<Change> {
    let parent = ended.order.parent?;
    Some(Change::AddChildReport(Box::new(ChildReport {
        message: MessageId::new(ports.clock.new_id()),
        child: ended.id,
        parent,
        text: report_text(ended),
        created_at: ports.clock.now(),
    })))
}

/// Returns the reports that can be sent now, with the sessions that get them. The reports to a
/// parent without a session are left out. `parent` is the only parent to look for.
pub async fn due_reports(
    ports: &Ports,
    parent: Option<TaskId>,
) -> Result<Vec<(SessionId, ChildReport)>> {
    let reports = ports.store.child_reports(parent).await?;
    if reports.is_empty() {
        return Ok(Vec::new());
    }
    let parents: BTreeSet<TaskId> = reports.iter().map(|report| report.parent).collect();
    let query = TaskQuery { ids: Some(parents.into_iter().collect()), ..TaskQuery::default() };
    let parents = ports.store.tasks(&query).await?.into_iter();
    let sessions: BTreeMap<TaskId, SessionId> =
        parents.filter_map(|it| Some((it.task.id, it.task.session?))).collect();
    let with_session = |report: ChildReport| Some((*sessions.get(&report.parent)?, report));
    Ok(reports.into_iter().filter_map(with_session).collect())
}

/// Returns the commit that records that a report is sent. It belongs into the commit that queues the
/// message.
pub fn report_sent(report: &ChildReport) -> Commit {
    let changes = vec![Change::SendChildReport(report.message)];
    Commit { changes, events: Vec::new() }
}

/// Returns whether a commit failed because the report was sent already.
pub fn is_report_sent(error: &Error) -> bool {
    matches!(error.conflict.as_deref(), Some(Conflict::ChildReportSent { .. }))
}
