//! The work on one task, from its start to its end or to a wait.

use std::sync::Arc;

use segue_core::flows::tasks::{self, TaskEnd};
use segue_core::model::{
    FolderState, Session, SessionId, Task, TaskId, TaskState, TaskWait, WorkRef,
};
use segue_core::ports::{MessageQuery, PlacedTask, SessionQuery};
use segue_core::rules::tasks::{
    TaskFacts, TaskHistory, TaskSession, TaskStep, TaskVerdict, TurnEnd, may_begin_anew, next_step,
    turn_counts, verdict,
};
use segue_core::{Error, Result};

use super::super::{SessionRequest, Supervisor, is_ending};
use super::turn::{self, TaskTurn};
use super::{queue_released, reports};
use crate::blocking::blocking;

/// How the work on a task continues after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextWork {
    /// The task has ended or waits.
    Stop,
    TakeStep,
    /// A turn runs, or is about to.
    AwaitTurn,
}

/// A step that could not be done.
#[derive(Debug)]
pub(super) enum StepFailure {
    /// The task has to wait.
    Wait(TaskWait),
    /// The step failed, or the task was changed by another request.
    Failed(Error),
}

impl From<Error> for StepFailure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Works on a task until it has ended or has to wait, or until another request has changed it. Fails
/// only if the store cannot be used, or if the daemon is ending: then nothing is recorded.
pub(super) async fn work(supervisor: &Arc<Supervisor>, id: TaskId) -> Result<()> {
    let worker = TaskWorker { supervisor: Arc::clone(supervisor), id, was_brought_back: false };
    match worker.run().await {
        Err(error) if tasks::is_changed_meanwhile(&error) => Ok(()),
        result => result,
    }
}

/// Works on one task.
pub(super) struct TaskWorker {
    pub(super) supervisor: Arc<Supervisor>,
    id: TaskId,
    /// Whether the session was brought back after a turn that was cut off.
    was_brought_back: bool,
}

impl TaskWorker {
    async fn run(mut self) -> Result<()> {
        let mut next = NextWork::TakeStep;
        loop {
            let task = self.task().await?;
            if task.state.has_ended() || next == NextWork::Stop {
                return Ok(());
            }
            let turn = match self.turn(&task, next).await {
                Ok(turn) => turn,
                Err(StepFailure::Wait(wait)) => return self.wait(wait).await.map(drop),
                Err(StepFailure::Failed(error)) => self.failed_turn(failed_step(error)?).await?,
            };
            next = self.conclude(turn).await?;
        }
    }

    /// Returns the current record of the task.
    async fn task(&self) -> Result<Task> {
        let PlacedTask { task, .. } = tasks::by_id(&self.supervisor.ports, self.id).await?;
        Ok(task)
    }

    /// Returns the turn for a step that failed. If the start of the task is recorded, its process may
    /// have been killed: then the session can be brought back, unless its conversation is lost.
    async fn failed_turn(&self, reason: String) -> Result<TaskTurn> {
        let task = self.task().await?;
        match task.session.filter(|_| task.state == TaskState::Running) {
            Some(session) => turn::not_brought_back(&self.supervisor, session, reason).await,
            None => Ok(TaskTurn::failed_start(reason)),
        }
    }

    /// Does the next step, unless a turn runs already, and waits for the end of the turn.
    async fn turn(&self, task: &Task, next: NextWork) -> Result<TaskTurn, StepFailure> {
        if next == NextWork::TakeStep {
            self.take_step(task).await?;
            // Children may have ended before the task had a session.
            reports::send_due(&self.supervisor, Some(WorkRef::Task(self.id))).await;
        }
        Ok(turn::wait(&self.supervisor, &self.task().await?).await?)
    }

    /// Does the next step, so that a turn runs or has ended.
    async fn take_step(&self, task: &Task) -> Result<(), StepFailure> {
        let session = self.session(task).await?;
        let task_facts = TaskFacts {
            state: &task.state,
            mode: task.order.mode,
            has_message: task.progress.message.is_some(),
            session: session.as_ref().map(|(_, session)| *session),
        };
        let step = next_step(&task_facts);
        let Some((session, facts)) = session else { return self.start_and_send(task).await };
        if task.state == TaskState::Queued {
            tasks::check_branch(&self.supervisor.ports, &task.order, &session).await?;
        }
        match step {
            TaskStep::Start => self.start_and_send(task).await,
            TaskStep::Await => Ok(()),
            TaskStep::Resume => {
                self.resume(&session).await?;
                Ok(self.mark_running(task).await?)
            }
            TaskStep::Send => {
                self.bring_up(&session, facts).await?;
                let prompt = self.prompt(task, &session).await?;
                self.send(task, &session, prompt).await
            }
            TaskStep::GoOn => {
                self.bring_up(&session, facts).await?;
                self.send(task, &session, tasks::after_wait(task)).await
            }
        }
    }

    /// Returns the prompt with which an existing session begins a task, or goes on with it.
    async fn prompt(&self, task: &Task, session: &Session) -> Result<String> {
        let (ports, folder) = (&self.supervisor.ports, self.folder_state(session).await?);
        match task.state {
            // The session has not got the prompt yet.
            TaskState::Running => tasks::first_prompt(ports, task, folder).await,
            _ => tasks::next_prompt(ports, task, folder).await,
        }
    }

    /// Starts a new session. An interactive session gets its prompt as a message.
    async fn start_and_send(&self, task: &Task) -> Result<(), StepFailure> {
        self.start(task).await?;
        let task = self.task().await?;
        match self.session(&task).await? {
            Some((session, _)) if !session.headless => {
                let ports = &self.supervisor.ports;
                let folder = self.folder_state(&session).await?;
                let prompt = tasks::first_prompt(ports, &task, folder).await?;
                self.send(&task, &session, prompt).await
            }
            _ => Ok(()),
        }
    }

    /// Reads the state of a session's folder, for prompts. Git runs for it, which can take long in a
    /// large repository.
    pub(super) async fn folder_state(&self, session: &Session) -> Result<FolderState> {
        let (machine, folder) = (Arc::clone(&self.supervisor.ports.machine), session.cwd.clone());
        blocking(move || Ok(machine.folder_state(&folder))).await
    }

    /// Brings an interactive session back that does not run, because a message alone does not start
    /// it.
    async fn bring_up(&self, session: &Session, facts: TaskSession) -> Result<(), StepFailure> {
        match facts.is_open || session.headless {
            true => Ok(()),
            false => self.resume(session).await,
        }
    }

    /// Returns the session that the task continues. `None` if it begins a conversation of its own.
    /// Fails if a person has removed the session: the task is not begun again silently.
    pub(super) async fn session(&self, task: &Task) -> Result<Option<(Session, TaskSession)>> {
        let ports = &self.supervisor.ports;
        let removed = || Error::not_found("the session of the task was removed");
        let Some(id) = tasks::session_of(ports, task).await? else {
            let is_new = task.state == TaskState::Queued || task.progress.sessions.is_empty();
            return if is_new { Ok(None) } else { Err(removed()) };
        };
        let found = ports.store.sessions(&SessionQuery::id(id)).await?.pop().ok_or_else(removed)?;
        let facts = TaskSession {
            status: found.session.status,
            is_open: found.open.is_some(),
            has_queued: self.has_queued_prompt(task, id).await?,
        };
        Ok(Some((found.session, facts)))
    }

    /// Returns whether the message that is to begin the task's turn has not arrived. Other messages,
    /// such as reports of its children, are not part of the task.
    async fn has_queued_prompt(&self, task: &Task, session: SessionId) -> Result<bool> {
        let Some(message) = task.progress.message else { return Ok(false) };
        let query = MessageQuery { session: Some(session), open: true };
        let open = self.supervisor.ports.store.messages(&query).await?;
        Ok(open.iter().any(|it| it.id == message))
    }

    /// Records what the end of a turn means for the task.
    async fn conclude(&mut self, turn: TaskTurn) -> Result<NextWork> {
        let task = self.task().await?;
        let TaskTurn { end, answer, is_final } = turn;
        if !turn_counts(&task.state, !is_final) {
            return Ok(NextWork::Stop);
        }
        let history = TaskHistory {
            may_have_acted: is_final || self.may_have_acted(&task, &end).await,
            has_new_conversation: task.progress.has_new_conversation,
            is_fresh_retry: task.progress.is_fresh_retry,
            was_brought_back: self.was_brought_back,
            may_begin_anew: may_begin_anew(&task),
        };
        match verdict(end, history) {
            TaskVerdict::Done => {
                match tasks::reported_failure(&self.supervisor.ports, &task).await? {
                    Some(reason) => {
                        self.end(&task, TaskEnd::new(TaskState::Failed { reason }, answer)).await
                    }
                    None => self.verify_and_end(&task, answer).await,
                }
            }
            TaskVerdict::Failed { reason } => {
                self.end(&task, TaskEnd::new(TaskState::Failed { reason }, answer)).await
            }
            TaskVerdict::Cancelled => {
                self.end(&task, TaskEnd::new(TaskState::Cancelled, answer)).await
            }
            TaskVerdict::Wait(wait) => self.wait_or_go_on(wait).await,
            TaskVerdict::RetryFresh { reason } => {
                tasks::retry_fresh(&self.supervisor.ports, &task, &reason).await?;
                Ok(NextWork::TakeStep)
            }
            TaskVerdict::BeginAnew { loss } => {
                self.cancel_message(&task).await;
                tasks::begin_anew(&self.supervisor.ports, &task, &loss).await?;
                Ok(NextWork::TakeStep)
            }
            TaskVerdict::BringBack => {
                self.was_brought_back = true;
                Ok(NextWork::TakeStep)
            }
        }
    }

    /// Records the end of the task. A message that has not begun a turn is cancelled, so that the
    /// work does not begin after its end.
    pub(super) async fn end(&self, task: &Task, end: TaskEnd) -> Result<NextWork> {
        self.cancel_message(task).await;
        self.supervisor.count_usage(task.session).await;
        let ended = tasks::end(&self.supervisor.ports, task, end).await?;
        queue_released(&self.supervisor, &ended.released).await;
        reports::send_of(&self.supervisor, task).await;
        Ok(NextWork::Stop)
    }

    /// Cancels the message that was to begin the task's turn, unless the agent has got it.
    async fn cancel_message(&self, task: &Task) {
        if let (Some(session), Some(message)) = (task.session, task.progress.message) {
            let same_commit = Vec::new();
            let cancel = |reply| SessionRequest::Cancel { message, same_commit, reply };
            // It fails if the agent has got the message.
            let _taken = self.supervisor.ask(session, cancel).await;
        }
    }

    async fn may_have_acted(&self, task: &Task, end: &TurnEnd) -> bool {
        match (end, task.session) {
            (TurnEnd::Failed(_), Some(session)) => {
                tasks::may_have_acted(&self.supervisor.ports, session).await
            }
            _ => true,
        }
    }

    /// Waits for the answer of a person while the agent runs. Any other wait ends the work on the
    /// task for now.
    async fn wait_or_go_on(&self, wait: TaskWait) -> Result<NextWork> {
        let is_question = matches!(wait, TaskWait::Question { .. });
        let waiting = self.wait(wait).await?;
        let goes_on = is_question && !waiting.state.has_ended();
        let Some(session) = waiting.session.filter(|_| goes_on) else {
            return Ok(NextWork::Stop);
        };
        turn::until_answered(&self.supervisor, session).await?;
        self.mark_running(&waiting).await?;
        Ok(NextWork::AwaitTurn)
    }

    /// Records that a task whose wait is over runs again.
    async fn mark_running(&self, task: &Task) -> Result<()> {
        if task.state == TaskState::Running {
            return Ok(());
        }
        let ports = &self.supervisor.ports;
        let running = Task { state: TaskState::Running, ..task.clone() };
        ports.store.commit(tasks::change(ports, &running, task.state.kind(), None)).await?;
        Ok(())
    }

    /// Records that the task waits. Returns its new record. A task that was cancelled meanwhile stays
    /// cancelled.
    pub(super) async fn wait(&self, wait: TaskWait) -> Result<Task> {
        let task = self.task().await?;
        match &task.state {
            state if state.has_ended() => Ok(task),
            TaskState::Waiting(known) if *known == wait => Ok(task),
            _ => tasks::wait(&self.supervisor.ports, &task, wait).await,
        }
    }
}

/// Returns why a task fails after a step that failed. Fails if the daemon is ending, or if another
/// request has changed the task.
pub(super) fn failed_step(error: Error) -> Result<String> {
    if is_ending(&error) || tasks::is_changed_meanwhile(&error) {
        return Err(error);
    }
    Ok(error.in_one_line())
}
