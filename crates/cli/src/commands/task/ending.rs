//! Prints how a task ended, and sets the exit status.

use segue_core::api::TaskReport;
use segue_core::model::TaskStateKind;
use segue_core::{Error, Kind, Result};

use crate::context::{CommandEnding, Context};

/// Prints the answer of a task that is done. Any other end is an error. With `--json`, prints the
/// whole record in both cases.
pub(super) fn show(report: &TaskReport, context: &mut Context) -> Result<CommandEnding> {
    let task = &report.task;
    let answer = task.result.as_ref().and_then(|result| result.answer.as_deref());
    let failure = failure(report);
    if context.wants_json() {
        context.output.json(report)?;
    } else if failure.is_none() {
        context.output.agent_text(answer.unwrap_or_default())?;
    }
    match failure {
        None => Ok(CommandEnding::Done),
        Some(error) if context.wants_json() => {
            context.output.failure_on_stderr(&error);
            Ok(CommandEnding::Reported(error.kind))
        }
        Some(error) => Err(error),
    }
}

/// Returns the error about a task that is not done.
fn failure(report: &TaskReport) -> Option<Error> {
    let task = &report.task;
    let kind = match task.state.known() {
        Some(TaskStateKind::Done) => return None,
        Some(TaskStateKind::Failed) => Kind::Vendor,
        _ => Kind::Conflict,
    };
    let (id, state) = (task.id, task.state.as_str());
    let message = match task.state.known() {
        Some(TaskStateKind::Failed) => format!("task `{id}` failed"),
        Some(TaskStateKind::Cancelled) => format!("task `{id}` was cancelled"),
        _ => format!("task `{id}` is still {state}"),
    };
    let error = Error { kind, ..Error::conflict(message) };
    let error = task.reason.iter().fold(error, |error, reason| error.caused_by(reason));
    Some(error.hint(format!("run `segue task show {id}` to see it")))
}

#[cfg(test)]
mod tests {
    use segue_core::api::TaskView;
    use segue_core::model::{AgentName, TaskId};

    use super::*;

    fn report(state: TaskStateKind, reason: Option<&str>) -> TaskReport {
        let id: TaskId = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        TaskReport {
            reports: Vec::new(),
            task: TaskView {
                id,
                key: None,
                state: state.into(),
                reason: reason.map(str::to_owned),
                agent: AgentName::parse("coder").unwrap(),
                session: None,
                address: None,
                repository: None,
                issue: None,
                worktree: None,
                branch: None,
                prompt: "fix it".to_owned(),
                parent: None,
                plan: None,
                priority: 0,
                attempts: 1,
                result: None,
                created_at: jiff::Timestamp::UNIX_EPOCH,
                started_at: None,
                ended_at: None,
            },
        }
    }

    #[test]
    fn exit_status_depends_on_the_state_of_the_task() {
        let table = [
            (TaskStateKind::Done, None, None),
            (TaskStateKind::Failed, Some("no disk"), Some((6, "failed"))),
            (TaskStateKind::Cancelled, None, Some((4, "was cancelled"))),
            (TaskStateKind::Waiting, Some("go on?"), Some((4, "is still waiting"))),
            (TaskStateKind::Running, None, Some((4, "is still running"))),
        ];
        for (state, reason, expected) in table {
            let error = failure(&report(state, reason));
            let found = error.as_ref().map(|error| error.kind.exit_status());
            assert_eq!(found, expected.map(|(status, _)| status), "{state:?}");
            if let (Some(error), Some((_, words))) = (error, expected) {
                assert!(error.message.contains(words), "{error}");
                assert_eq!(error.causes.first().map(String::as_str), reason);
            }
        }
    }
}
