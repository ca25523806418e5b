//! Cleans up after issues that were closed.

use segue_core::flows::tasks::{self, TaskEnd};
use segue_core::model::{
    AgentWorktree, EventPayload, IssueKey, NewEvent, SessionId, Task, TaskState, TrackedIssue,
};
use segue_core::ports::{Change, Commit, TaskQuery, WorktreeQuery};
use segue_core::{Kind, Result, failpoint};

use super::worker::SourceWorker;

impl SourceWorker {
    /// Cleans up after all closed issues whose turns have ended.
    pub(super) async fn clean_up(&self) -> Result<()> {
        let ports = &self.supervisor.ports;
        let tracked = ports.store.tracked_issues(Some(&self.name)).await?;
        for issue in tracked.into_iter().filter(|it| it.needs_cleanup) {
            let sessions = ports.store.sessions_of_issue(&issue.repository, &issue.issue).await?;
            if self.end_tasks(&issue).await? {
                self.remove_worktrees(&issue, &sessions).await?;
            }
        }
        Ok(())
    }

    /// Cancels the tasks about an issue that no agent works on now, also those that have no session
    /// yet. Returns whether no turn is left: an agent that works may end its turn first.
    async fn end_tasks(&self, issue: &TrackedIssue) -> Result<bool> {
        let is_about = |task: &Task| {
            task.order.repository.as_ref() == Some(&issue.repository)
                && task.order.issue.as_ref() == Some(&issue.issue)
        };
        let mut is_quiet = true;
        for placed in self.supervisor.ports.store.tasks(&TaskQuery::open()).await? {
            if is_about(&placed.task) {
                is_quiet &= self.end_task(&placed.task).await?;
            }
        }
        Ok(is_quiet)
    }

    /// Cancels a task, unless an agent works on it. Returns whether the task has ended.
    async fn end_task(&self, task: &Task) -> Result<bool> {
        match &task.state {
            TaskState::Running => Ok(false),
            TaskState::Queued => {
                let end = TaskEnd::new(TaskState::Cancelled, None);
                match tasks::end(&self.supervisor.ports, task, end).await {
                    Ok(_) => {
                        super::super::tasks::leave_queue(&self.supervisor, task.id);
                        Ok(true)
                    }
                    // The task has just been started.
                    Err(error) if tasks::is_changed_meanwhile(&error) => Ok(false),
                    Err(error) => Err(error),
                }
            }
            // The issue is closed, so the question of the task needs no answer.
            TaskState::Waiting(_) => {
                let id = task.id.to_string();
                let principal = segue_core::model::Principal::User;
                super::super::tasks::cancel(&self.supervisor, &principal, &id).await?;
                Ok(true)
            }
            TaskState::Done | TaskState::Failed { .. } | TaskState::Cancelled => Ok(true),
        }
    }

    /// Ends the processes of an issue's sessions, and removes their worktrees. Each worktree is
    /// salvaged first. The sessions stay, so that a reopened issue continues its conversations.
    async fn remove_worktrees(
        &self,
        issue: &TrackedIssue,
        sessions: &[(IssueKey, SessionId)],
    ) -> Result<()> {
        let mut removed = 0;
        for (_, session) in sessions {
            self.supervisor.end(*session).await?;
            for worktree in self.worktrees(*session).await? {
                match self.remove(&worktree).await {
                    Ok(()) => removed += 1,
                    // A person works there, or git cannot salvage it now: it stays.
                    Err(error) if error.kind != Kind::Unavailable => {
                        let path = worktree.path.display();
                        tracing::warn!(%path, %error, "a worktree of a closed issue stays");
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        self.record_cleanup(issue, removed).await
    }

    async fn worktrees(&self, session: SessionId) -> Result<Vec<AgentWorktree>> {
        let query = WorktreeQuery { session: Some(session), path: None };
        let mut found = self.supervisor.ports.store.worktrees(&query).await?;
        found.retain(|worktree| worktree.complete_removal().is_none());
        Ok(found)
    }

    async fn remove(&self, worktree: &AgentWorktree) -> Result<()> {
        let environment = self.supervisor.login_shell().await?;
        self.supervisor.remove_worktree(worktree, &environment).await.map(drop)
    }

    async fn record_cleanup(&self, issue: &TrackedIssue, worktrees: usize) -> Result<()> {
        let ports = &self.supervisor.ports;
        let (source, name) = (self.name.clone(), issue.issue.as_str().to_owned());
        let payload = EventPayload::IssueCleanedUp { source, issue: name, worktrees };
        let event = NewEvent { at: ports.clock.now(), session: None, launch: None, payload };
        let cleaned = TrackedIssue { needs_cleanup: false, ..issue.clone() };
        let changes = vec![Change::PutTrackedIssue(Box::new(cleaned))];
        failpoint::hit("issue.cleanup.before");
        ports.store.commit(Commit { changes, events: vec![event] }).await?;
        failpoint::hit("issue.cleanup.after");
        Ok(())
    }
}
