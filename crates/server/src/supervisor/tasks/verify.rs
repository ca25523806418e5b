//! Runs the verify command of a task after a turn that succeeded.

use std::time::Duration;

use segue_core::flows::tasks::{self, TaskEnd};
use segue_core::model::{MessageId, Session, Task, TaskState, VerifyReport};
use segue_core::ports::{CommandOrder, CommandReport};
use segue_core::rules::tasks::may_send_back;
use segue_core::{Error, Result};

use super::work::{NextWork, StepFailure, TaskWorker, failed_step};

/// How long a verify command may take.
const VERIFY_TIMEOUT: Duration = Duration::from_secs(30 * 60);

impl TaskWorker {
    /// Ends a task whose turn succeeded. If its verify command fails, the output goes back to the
    /// agent, and the task ends only if that happened too often.
    pub(super) async fn verify_and_end(
        &self,
        task: &Task,
        answer: Option<String>,
    ) -> Result<NextWork> {
        let Some(command) = &task.order.verify else {
            return self.end(task, TaskEnd::new(TaskState::Done, answer)).await;
        };
        match self.verify_with(task, command, answer).await {
            Ok(next) => Ok(next),
            Err(StepFailure::Wait(wait)) => self.wait(wait).await.map(|_| NextWork::Stop),
            Err(StepFailure::Failed(error)) => {
                let reason = failed_step(error)?;
                self.end(task, TaskEnd::new(TaskState::Failed { reason }, None)).await
            }
        }
    }

    async fn verify_with(
        &self,
        task: &Task,
        command: &str,
        answer: Option<String>,
    ) -> Result<NextWork, StepFailure> {
        let removed = || Error::not_found("the session of the task was removed");
        let (session, _) = self.session(task).await?.ok_or_else(removed)?;
        let CommandReport { passed, ending, output } = self.run_command(&session, command).await?;
        let failed = task.progress.failed_verifies;
        let command = command.to_owned();
        let verify = VerifyReport { command, passed, output, runs: failed + 1 };
        if !passed && may_send_back(failed) {
            self.send_back(task, &session, (&verify, &ending)).await?;
            return Ok(NextWork::AwaitTurn);
        }
        let reason = format!("`{}` failed: {ending}", verify.command);
        let state = if passed { TaskState::Done } else { TaskState::Failed { reason } };
        Ok(self.end(task, TaskEnd { state, answer, verify: Some(verify) }).await?)
    }

    /// Runs a command in the folder of a session.
    async fn run_command(
        &self,
        session: &Session,
        command: &str,
    ) -> Result<CommandReport, StepFailure> {
        let order = CommandOrder {
            command: command.to_owned(),
            folder: session.cwd.clone(),
            environment: self.login_shell().await?,
            timeout: VERIFY_TIMEOUT,
            log: None,
        };
        Ok(self.supervisor.ports.commands.run(order).await?)
    }

    /// Sends the output of a failed verify command to the agent.
    async fn send_back(
        &self,
        task: &Task,
        session: &Session,
        (verify, ending): (&VerifyReport, &str),
    ) -> Result<(), StepFailure> {
        let text = tasks::verify_prompt(verify, ending);
        let message = MessageId::new(self.supervisor.ports.clock.new_id());
        let same_commit =
            tasks::sent_back(&self.supervisor.ports, task, (session.id, message), verify);
        self.send_with(session, (message, text), same_commit).await
    }
}
