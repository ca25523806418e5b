//! Waits for the end of a task's turn.

use std::sync::Arc;

use segue_core::api::{SendReport, Until};
use segue_core::model::{Failure, FailureClass, How, MessageStateKind, SessionId, Status, Task};
use segue_core::ports::{Commit, Missing};
use segue_core::rules::tasks::TurnEnd;
use segue_core::{Error, Result};

use super::super::{SessionRequest, Supervisor, Waiter};
use super::parking::account;

/// A turn of a task that is over, or that waits for a person.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TaskTurn {
    pub(super) end: TurnEnd,
    /// The agent's last answer.
    pub(super) answer: Option<String>,
    /// Whether the task must not be retried automatically.
    pub(super) is_final: bool,
}

impl TaskTurn {
    fn new(end: TurnEnd, answer: Option<String>) -> Self {
        Self { end, answer, is_final: false }
    }

    /// Returns the turn with the account as the cause of its failure, if the vendor refuses the
    /// account and no other cause is known: then the turn did not begin.
    fn with_refusal(mut self, is_refused: bool) -> Self {
        match &mut self.end {
            TurnEnd::Failed(failure) if is_refused && failure.class == FailureClass::Other => {
                failure.class = FailureClass::Account;
            }
            _ => {}
        }
        self
    }

    /// Returns the turn of a session that could not be started. A second attempt would fail for the
    /// same reason.
    pub(super) fn failed_start(message: String) -> Self {
        Self { end: TurnEnd::Failed(other(message)), answer: None, is_final: true }
    }
}

/// Waits until the turn of a task is over, or until the agent asks a person.
pub(super) async fn wait(supervisor: &Arc<Supervisor>, task: &Task) -> Result<TaskTurn> {
    let removed = || Error::not_found("the session of the task was removed");
    let session = task.session.ok_or_else(removed)?;
    let turn = match task.progress.message {
        Some(message) => {
            let until = Until::TurnEnded;
            let wait = |reply| SessionRequest::Wait(Waiter::message(message, until, reply));
            let report = supervisor.ask(session, wait).await?;
            of_message(report.into(), status(supervisor, session).await?)
        }
        None => {
            let wait = |reply| SessionRequest::WaitTurn { reply };
            let report = supervisor.ask(session, wait).await?;
            match report.question {
                Some(question) => TaskTurn::new(TurnEnd::Asks(question), None),
                None => of_turn(report.text, report.failure, status(supervisor, session).await?),
            }
        }
    };
    Ok(turn.with_refusal(supervisor.accounts.is_refused(&account(&task.order.account))))
}

/// Returns the turn of a session that could not be brought back.
pub(super) async fn not_brought_back(
    supervisor: &Supervisor,
    session: SessionId,
    reason: String,
) -> Result<TaskTurn> {
    let is_lost = status(supervisor, session).await? == Status::Lost;
    let end = if is_lost { TurnEnd::Lost(reason) } else { TurnEnd::CutOff(reason) };
    Ok(TaskTurn::new(end, None))
}

async fn status(supervisor: &Supervisor, session: SessionId) -> Result<Status> {
    let found = supervisor.ports.store.session(session).await?;
    Ok(found.ok_or(Missing::Session(session))?.status)
}

/// Waits until a session no longer asks a person, or asks the next question.
pub(super) async fn until_answered(supervisor: &Supervisor, session: SessionId) -> Result<()> {
    let store = &supervisor.ports.store;
    let question = || supervisor.view_extras.dialog(session).map(|dialog| dialog.id);
    let first = question();
    // An empty commit returns the sequence number of the last event.
    let mut seen = store.commit(Commit::default()).await?;
    while asks(status(supervisor, session).await?) && question() == first {
        seen = store.wait_for_events(seen).await?;
    }
    Ok(())
}

fn asks(status: Status) -> bool {
    status.waiting_for().is_some_and(|reason| reason.needs_answer())
}

/// What is known about the turn that a message was to begin.
#[derive(Clone, Debug, Default)]
struct MessageTurn {
    is_cancelled: bool,
    /// Whether the turn began and is over.
    has_ended: bool,
    answer: Option<String>,
    failure: Option<Failure>,
    /// Why the message has not arrived, or the question of the agent.
    note: Option<String>,
}

impl From<SendReport> for MessageTurn {
    fn from(report: SendReport) -> Self {
        Self {
            is_cancelled: report.message.state.known() == Some(MessageStateKind::Cancelled),
            has_ended: report.turn_ended,
            answer: report.answer,
            failure: report.failure,
            note: report.note,
        }
    }
}

/// Returns how the turn ended that a message began. `status` is the status of the session then.
fn of_message(turn: MessageTurn, status: Status) -> TaskTurn {
    let MessageTurn { is_cancelled, has_ended, answer, failure, note } = turn;
    let is_stopped = status == Status::Ended(How::Stopped);
    match failure {
        _ if is_cancelled => TaskTurn::new(TurnEnd::Stopped, None),
        None if has_ended => TaskTurn::new(TurnEnd::Succeeded, answer),
        _ if is_stopped => TaskTurn::new(TurnEnd::Stopped, answer),
        None if asks(status) => TaskTurn::new(TurnEnd::Asks(note.unwrap_or_default()), None),
        Some(failure) => TaskTurn::new(unsuccessful(status, failure), answer),
        None => {
            let reason = note.unwrap_or_else(|| "its message was not delivered".to_owned());
            TaskTurn::new(unsuccessful(status, other(reason)), None)
        }
    }
}

/// Returns how the turn of a headless session ended. `text` is the answer, or the cause of a
/// failure.
fn of_turn(text: String, failure: Option<Failure>, status: Status) -> TaskTurn {
    match status {
        Status::Idle => TaskTurn::new(TurnEnd::Succeeded, Some(text)),
        Status::Ended(How::Stopped) => TaskTurn::new(TurnEnd::Stopped, None),
        _ => {
            let detail = || status.detail().unwrap_or_else(|| status.word().to_owned());
            let message = if text.is_empty() { detail() } else { text };
            let failure = failure.unwrap_or_else(|| other(message));
            TaskTurn::new(unsuccessful(status, failure), None)
        }
    }
}

/// Returns the end of a turn without success: the process died, the conversation is lost, or the turn
/// failed.
fn unsuccessful(status: Status, failure: Failure) -> TurnEnd {
    let is_cut_off =
        matches!(status, Status::Interrupted | Status::Ended(How::Crashed(_) | How::NeverStarted));
    match failure.class {
        FailureClass::Other if is_cut_off => TurnEnd::CutOff(failure.message),
        FailureClass::Other if status == Status::Lost => TurnEnd::Lost(failure.message),
        _ => TurnEnd::Failed(failure),
    }
}

fn other(message: String) -> Failure {
    Failure { class: FailureClass::Other, message, resets_at: None }
}

#[cfg(test)]
mod tests {
    use segue_core::model::{Exit, WaitingFor};

    use super::*;

    const STOPPED: Status = Status::Ended(How::Stopped);
    const CRASHED: Status = Status::Ended(How::Crashed(Exit::Signal(9)));
    const FAILED: Status = Status::Ended(How::TurnFailed);

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn end_of_a_headless_turn_depends_on_the_status_of_its_session() {
        let limit = Failure { class: FailureClass::UsageLimit, ..other("later".to_owned()) };
        let cut_off = |message: &str| TurnEnd::CutOff(message.to_owned());
        let table = [
            (Status::Idle, "fixed", None, TurnEnd::Succeeded),
            (STOPPED, "", None, TurnEnd::Stopped),
            (CRASHED, "", None, cut_off("crashed: signal 9")),
            (Status::Interrupted, "", None, cut_off("interrupted")),
            (FAILED, "no disk", None, TurnEnd::Failed(other("no disk".to_owned()))),
            (FAILED, "", Some(limit.clone()), TurnEnd::Failed(limit.clone())),
            (CRASHED, "", Some(limit.clone()), TurnEnd::Failed(limit)),
        ];
        for (status, text, failure, expected) in table {
            let turn = of_turn(text.to_owned(), failure, status);
            assert_eq!(turn.end, expected, "{status:?} {text}");
        }
    }

    #[test]
    fn end_of_a_turn_that_a_message_began_depends_on_message_and_session() {
        let asking = Status::Waiting(WaitingFor::Permission);
        let none = MessageTurn::default();
        let ended = MessageTurn { has_ended: true, answer: text("fixed"), ..none.clone() };
        let failure = other("no disk".to_owned());
        let failed = MessageTurn { failure: Some(failure.clone()), ..ended.clone() };
        let cancelled = MessageTurn { is_cancelled: true, ..none.clone() };
        let noted = MessageTurn { note: text("go on?"), ..none.clone() };
        let cut_off = TurnEnd::CutOff("no disk".to_owned());
        let table = [
            (&ended, Status::Idle, TurnEnd::Succeeded),
            (&ended, STOPPED, TurnEnd::Succeeded),
            (&failed, STOPPED, TurnEnd::Stopped),
            (&failed, FAILED, TurnEnd::Failed(failure)),
            (&failed, CRASHED, cut_off),
            (&cancelled, Status::Idle, TurnEnd::Stopped),
            (&none, STOPPED, TurnEnd::Stopped),
            (&noted, asking, TurnEnd::Asks("go on?".to_owned())),
            (&noted, Status::Idle, TurnEnd::Failed(other("go on?".to_owned()))),
            (&noted, Status::Interrupted, TurnEnd::CutOff("go on?".to_owned())),
            (&noted, Status::Lost, TurnEnd::Lost("go on?".to_owned())),
        ];
        for (turn, status, expected) in table {
            assert_eq!(of_message(turn.clone(), status).end, expected, "{turn:?} {status:?}");
        }
    }

    #[test]
    fn refused_account_is_the_cause_of_a_failure_without_another_cause() {
        let failed = |class| TurnEnd::Failed(Failure { class, ..other("no".to_owned()) });
        let turn = |end| TaskTurn::new(end, None);
        let table = [
            (failed(FailureClass::Other), true, failed(FailureClass::Account)),
            (failed(FailureClass::Other), false, failed(FailureClass::Other)),
            (failed(FailureClass::Service), true, failed(FailureClass::Service)),
            (TurnEnd::Succeeded, true, TurnEnd::Succeeded),
        ];
        for (end, is_refused, expected) in table {
            assert_eq!(turn(end.clone()).with_refusal(is_refused).end, expected, "{end:?}");
        }
    }
}
