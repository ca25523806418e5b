//! Sends the reports of ended tasks to the sessions of their parents.

use std::sync::Arc;

use segue_core::Result;
use segue_core::flows::messages::NewMessage;
use segue_core::flows::{repetition, tasks};
use segue_core::model::{ChildReport, SessionId, Task, WorkRef};

use super::super::{SessionRequest, Supervisor};

/// Sends the reports that can be sent now: those to this task or session or, without one, all of
/// them. A report that cannot be sent stays recorded, and the next call sends it.
pub(super) async fn send_due(supervisor: &Arc<Supervisor>, parent: Option<WorkRef>) {
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
            tracing::warn!(?child, ?parent, %error, "a task cannot report to its parent now");
        }
    }
}

/// Sends the reports of a task to its parent, and to the agent that added it.
pub(super) async fn send_of(supervisor: &Arc<Supervisor>, task: &Task) {
    let spawner = task.order.spawner.as_ref().map(|spawner| WorkRef::Session(spawner.session));
    for parent in spawner.into_iter().chain(task.order.parent.map(WorkRef::Task)) {
        send_due(supervisor, Some(parent)).await;
    }
}

/// Queues a report as a message to a session. The record that the report is due is deleted in the
/// same commit, so that it is queued once.
async fn send(supervisor: &Arc<Supervisor>, session: SessionId, report: ChildReport) -> Result<()> {
    let same_commit = tasks::report_sent(&report);
    let sender =
        repetition::sender_of(&supervisor.ports, of_child(supervisor, &report).await).await;
    let message = NewMessage { id: report.message, text: report.text, is_command: false, sender };
    let queue = |reply| SessionRequest::Queue { message, same_commit, reply };
    match supervisor.ask(session, queue).await {
        Err(error) if tasks::is_report_sent(&error) => Ok(()),
        result => result.map(drop),
    }
}

/// Returns the session that has made a report.
async fn of_child(supervisor: &Supervisor, report: &ChildReport) -> Option<SessionId> {
    match report.child {
        WorkRef::Session(session) => Some(session),
        WorkRef::Task(task) => {
            tasks::by_id(&supervisor.ports, task).await.ok().and_then(|it| it.task.session)
        }
    }
}
