//! The steps of a task that start its session or send to it.

use segue_core::api::{AgentOutcome, Outcome};
use segue_core::flows::look::SelectionMode;
use segue_core::flows::run::{self, RunPlan};
use segue_core::flows::{SessionState, environment, tasks};
use segue_core::model::{
    AccountKey, Environment, EnvironmentSource, MessageId, Principal, Session, Task, TaskMode,
    TaskWait,
};
use segue_core::ports::Commit;
use segue_core::rules::accounts::StartRequester;
use segue_core::rules::environment::EnvironmentChoice;
use segue_core::rules::housekeeping::is_disk_full;
use segue_core::{Error, Kind, Result};

use super::super::resume::bring_back;
use super::super::{MessageAuthor, Outgoing, SessionRequest, Start, StartTrigger, ask};
use super::parking::account;
use super::work::{StepFailure, TaskWorker};

/// At most this many generated names are tried if other requests take them.
const MAX_NAMES_TRIED: usize = 3;

impl TaskWorker {
    /// Starts a new session for a task. The start of the task is recorded in the commit of the
    /// session's first launch.
    pub(super) async fn start(&self, task: &Task) -> Result<(), StepFailure> {
        let (ports, environment) = (&self.supervisor.ports, self.login_shell().await?);
        let mut name_taken = None;
        for _ in 0..MAX_NAMES_TRIED {
            let request = tasks::run_request(ports, &task.order, &environment);
            let principal = self.starter(task).await?;
            let plan = run::plan_unattended(ports, &principal, &request).await?;
            self.wait_for_disk(&plan).await?;
            match self.start_planned(task, &plan, environment.clone()).await {
                Err(error) if run::is_name_taken(&error) => name_taken = Some(error),
                Err(error) => return Err(self.explain(&task.order.account, error)),
                Ok(()) => return Ok(()),
            }
        }
        Err(name_taken.unwrap_or_else(|| Error::internal("no name was tried")).into())
    }

    /// Returns who starts a task. The user may start each agent of a trusted project. An agent that
    /// added the task starts it with the permission that it had then, or has now if that is stricter.
    async fn starter(&self, task: &Task) -> Result<Principal> {
        let Some(spawner) = &task.order.spawner else { return Ok(Principal::User) };
        let session = self.supervisor.ports.store.session(spawner.session).await?;
        let mut session = session.ok_or_else(|| {
            Error::not_found("the session whose agent added the task was removed")
        })?;
        session.permission = session.permission.min(spawner.permission);
        Ok(Principal::Agent(Box::new(session)))
    }

    /// The task has to wait if it needs a new worktree and the disk budget is used up.
    async fn wait_for_disk(&self, plan: &RunPlan) -> Result<(), StepFailure> {
        let Some(planned) = &plan.worktree else { return Ok(()) };
        match self.supervisor.check_disk(&planned.worktree).await {
            Err(error) if error.kind == Kind::Unavailable => {
                Err(StepFailure::Wait(TaskWait::Disk { reason: error.message }))
            }
            other => Ok(other?),
        }
    }

    async fn start_planned(
        &self,
        task: &Task,
        plan: &RunPlan,
        environment: Environment,
    ) -> Result<()> {
        let ports = &self.supervisor.ports;
        let made = self.supervisor.make_worktree(plan.worktree.as_ref(), &environment).await?;
        let session = plan.session(ports).await?;
        let folder = self.folder_state(&session).await?;
        let prompt = tasks::first_prompt(ports, task, folder).await?;
        let is_headless = task.order.mode == TaskMode::Headless;
        let task = &tasks::with_base(ports, task, &session).await;
        let start = Start {
            message: is_headless.then_some(prompt),
            environment,
            trigger: StartTrigger::now(StartRequester::One),
            request: None,
            worktree: made.as_ref().map(|made| made.event.clone()),
            same_commit: tasks::started(ports, task, session.id),
        };
        let inbox = self.supervisor.start_actor(SessionState::new(session));
        ask(&inbox, |reply| SessionRequest::Start { start: Box::new(start), reply }).await.map(drop)
    }

    /// Sends a message to the session of a task. The message and the new state of the task are
    /// recorded in one commit.
    pub(super) async fn send(
        &self,
        task: &Task,
        session: &Session,
        text: String,
    ) -> Result<(), StepFailure> {
        let ports = &self.supervisor.ports;
        let message = MessageId::new(ports.clock.new_id());
        let task = &tasks::with_base(ports, task, session).await;
        let same_commit = tasks::continued(ports, task, (session.id, message), None);
        self.send_with(session, (message, text), same_commit).await
    }

    /// Sends a message together with the changes that it belongs to.
    pub(super) async fn send_with(
        &self,
        session: &Session,
        (id, text): (MessageId, String),
        same_commit: Commit,
    ) -> Result<(), StepFailure> {
        let environment = self.environment_for(session).await?;
        let (id, author, interrupt, request) = (Some(id), MessageAuthor::Segue, false, None);
        let outgoing = Outgoing {
            id,
            text,
            is_command: false,
            author,
            environment,
            interrupt,
            request,
            same_commit,
        };
        let sent =
            self.supervisor.ask(session.id, |reply| SessionRequest::Send { outgoing, reply });
        sent.await?;
        Ok(())
    }

    /// Brings the session of a task back. The agent gets the message that it has not got yet, or is
    /// asked to go on if its turn was cut off.
    pub(super) async fn resume(&self, session: &Session) -> Result<(), StepFailure> {
        let environment = self.environment_for(session).await?;
        let trigger = StartTrigger::now(StartRequester::One);
        let asked = (SelectionMode::ByName, trigger);
        let outcome = bring_back(&self.supervisor, session.id, asked, (environment, None)).await?;
        match outcome {
            AgentOutcome { outcome: Outcome::Refused, note, .. } => {
                let account = AccountKey {
                    vendor: session.vendor.clone(),
                    config_dir: session.config_dir.clone(),
                };
                Err(self.explain(&account, Error::vendor(note.reason())))
            }
            _ => Ok(()),
        }
    }

    /// Returns the environment for the next launch of a session. The task has to wait if the login
    /// shell lacks variables of the last launch.
    async fn environment_for(&self, session: &Session) -> Result<Environment, StepFailure> {
        let (ports, read) = (&self.supervisor.ports, self.login_shell().await?);
        let state = SessionState::load(ports, session.id).await?;
        match environment::check(ports, &state, EnvironmentSource::LoginShell, read)? {
            EnvironmentChoice::Use { environment, .. } => Ok(environment),
            EnvironmentChoice::Missing(missing) => {
                let error = environment::missing_variables_error(&session.address(), &missing);
                let reason = error.message;
                Err(StepFailure::Wait(TaskWait::Environment { missing, reason }))
            }
        }
    }

    /// Reads the environment of the user's login shell. The task has to wait if that fails.
    pub(super) async fn login_shell(&self) -> Result<Environment, StepFailure> {
        self.supervisor.login_shell().await.map_err(|error| {
            let reason = error.to_string();
            StepFailure::Wait(TaskWait::Environment { missing: Vec::new(), reason })
        })
    }

    /// Returns the failure of a start. If the vendor refuses the account, the task has to wait.
    fn explain(&self, key: &AccountKey, error: Error) -> StepFailure {
        if is_disk_full(&error) {
            return StepFailure::Wait(TaskWait::Disk { reason: error.in_one_line() });
        }
        match self.supervisor.accounts.is_refused(&account(key)) {
            true => StepFailure::Wait(TaskWait::Account { reason: error.to_string() }),
            false => StepFailure::Failed(error),
        }
    }
}
