//! Drops the conversation of an agent about an issue.

use std::sync::Arc;

use segue_core::api::{ResetReport, ResetRequest};
use segue_core::flows::housekeeping::{ResetTarget, drop_targets, dropped, is_busy, reset_targets};
use segue_core::flows::requests::step;
use segue_core::flows::tasks as task_flows;
use segue_core::model::{
    HousekeepingItem, Principal, RequestKey, RequestStep, Task, TaskId, TaskState,
};
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result, failpoint};

use super::super::{Supervisor, tasks};

/// At most this often a task is cancelled that changes meanwhile.
const MAX_CANCEL_ATTEMPTS: usize = 5;

/// Drops the conversation of an agent about an issue: cancels its tasks, ends its process, and
/// salvages and removes its worktree. Drops nothing if there is none.
pub(crate) async fn reset(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    request: &ResetRequest,
) -> Result<ResetReport> {
    principal.allow(RestrictedAction::Tasks)?;
    let _turn = supervisor.housekeeping.turn().await?;
    let targets = reset_targets(&supervisor.ports, request).await?;
    if let Some(busy) = targets.iter().find(|it| is_busy(it) && !request.interrupt) {
        return Err(runs(busy));
    }
    for target in &targets {
        supervisor.end_work(principal, target).await?;
    }
    let report = ResetReport { dropped: dropped(&targets) };
    let answer = serde_json::to_string(&report)
        .map_err(|error| Error::internal("an answer cannot be written").caused_by(error))?;
    let same_commit = step(&supervisor.ports, key, RequestStep::Done { answer });
    drop_targets(&supervisor.ports, &targets, same_commit).await?;
    Ok(report)
}

fn runs(target: &ResetTarget) -> Error {
    let (agent, issue) = (&target.key.agent, target.key.issue.as_str());
    Error::conflict(format!("agent `{agent}` works on issue `{issue}` now"))
        .hint("wait until its turn is over, or add `--interrupt` to end it")
}

impl Supervisor {
    /// Ends everything that happens about an issue. Can be repeated after a crash.
    async fn end_work(self: &Arc<Self>, principal: &Principal, target: &ResetTarget) -> Result<()> {
        // A task that runs is cancelled last: its end would start the next one.
        let (waiting, running): (Vec<&Task>, Vec<&Task>) =
            target.tasks.iter().partition(|task| task.state == TaskState::Queued);
        for task in waiting.into_iter().chain(running) {
            failpoint::hit("reset.cancel.before");
            self.cancel_task(principal, task.id).await?;
            failpoint::hit("reset.cancel.after");
        }
        if let Some(summary) = &target.session {
            self.end(summary.session.id).await?;
            failpoint::hit("reset.end.after");
        }
        let worktree = target.worktree.as_ref().filter(|it| it.complete_removal().is_none());
        if let Some(worktree) = worktree {
            let item = HousekeepingItem::Worktree(Box::new(worktree.clone()));
            let environment = self.teardown_environment([&item].into_iter()).await;
            self.remove_item(&item, &environment).await?;
            failpoint::hit("reset.worktree.after");
        }
        Ok(())
    }

    /// Cancels a task that has not ended.
    async fn cancel_task(self: &Arc<Self>, principal: &Principal, id: TaskId) -> Result<()> {
        for _ in 0..MAX_CANCEL_ATTEMPTS {
            let cancelled = tasks::cancel(self, principal, &id.to_string()).await;
            let has_ended = task_flows::by_id(&self.ports, id).await?.task.state.has_ended();
            match cancelled {
                Ok(_) => return Ok(()),
                Err(_) if has_ended => return Ok(()),
                // The task has just been started, and can be cancelled as a running one.
                Err(error) if task_flows::is_changed_meanwhile(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::conflict(format!("task `{id}` changes too fast to be cancelled"))
            .hint("run the command again"))
    }
}
