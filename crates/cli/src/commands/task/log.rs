//! `segue task log`: prints the events of the session that works on a task.

use segue_core::Result;
use segue_core::api::{TaskReport, TaskView};
use segue_server::client::Client;

use super::TaskLogArguments;
use crate::commands::log;
use crate::context::{CommandEnding, Context};
use crate::progress;

pub(super) async fn run(
    arguments: &TaskLogArguments,
    client: Client,
    context: &mut Context,
) -> Result<CommandEnding> {
    let mut report = client.task(&arguments.name.task).await?;
    if arguments.follow && report.task.session.is_none() {
        report = wait_for_start(&client, report, context).await?;
    }
    let task = report.task;
    let Some(session) = task.session else {
        context.output.note(&without_session(&task));
        return Ok(CommandEnding::Done);
    };
    let until = arguments.follow.then_some(task.id).filter(|_| task.ended_at.is_none());
    log::of_task(client, session, until, context).await?;
    Ok(CommandEnding::Done)
}

/// Describes a task that has no session and so no events of one.
fn without_session(task: &TaskView) -> String {
    match (task.ended_at, &task.reason) {
        (None, _) => "the task has not started yet".to_owned(),
        (Some(_), None) => format!("the task was {} before it started", task.state.as_str()),
        (Some(_), Some(reason)) => {
            format!("the task {} before it started: {reason}", task.state.as_str())
        }
    }
}

/// Waits until a task has a session, or has ended without one.
async fn wait_for_start(
    client: &Client,
    report: TaskReport,
    context: &Context,
) -> Result<TaskReport> {
    let id = report.task.id.to_string();
    // A connection that streams events cannot carry other requests.
    let follower = progress::connect(context).await?;
    let mut events = follower.follow_from_now().await?;
    loop {
        let report = client.task(&id).await?;
        if report.task.session.is_some() || report.task.ended_at.is_some() {
            return Ok(report);
        }
        match events.next_burst().await {
            Some(burst) => burst?,
            None => return Ok(report),
        }
    }
}
