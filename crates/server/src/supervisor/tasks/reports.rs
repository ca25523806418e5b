//! Sends the reports of ended tasks to the sessions of their parents.

use std::sync::Arc;

use segue_core::Result;
use segue_core::flows::tasks;
use segue_core::model::{ChildReport, SessionId, TaskId};

use super::super::{SessionRequest, Supervisor};

/// Sends the reports that can be sent now: those of the children of this task or, without one, all
/// of them. A report that cannot be sent stays recorded, and the next call sends it.
pub(super) async fn send_due(supervisor: &Arc<Supervisor>, parent: Option<TaskId>) {
    let due = match tasks::due_reports(&supervisor.ports, parent).await {
        Ok(due) => due,
        Err(error) => {
            tracing::warn!(%error, "the reports of tasks to their parents cannot be read");
            return;
        }
    };
    for (session, report) in due {
        let (child, parent) = (report.child, report.parent);
        if let Err(error) = send(supervisor, session, report).await {
            tracing::warn!(%child, %parent, %error, "a task cannot report to its parent now");
        }
    }
}

/// Queues a report as a message to a session. The record that the report is due is deleted in the
/// same commit, so that it is queued once.
async fn send(supervisor: &Arc<Supervisor>, session: SessionId, report: ChildReport) -> Result<()> {
    let same_commit = tasks::report_sent(&report);
    let message = (report.message, report.text);
    let queue = |reply| SessionRequest::Queue { message, same_commit, reply };
    match supervisor.ask(session, queue).await {
        Err(error) if tasks::is_report_sent(&error) => Ok(()),
        result => result.map(drop),
    }
}
