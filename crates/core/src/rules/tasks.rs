//! Decides how the work on a task continues: which step follows when it is taken up, and what the
//! end of a turn means for it.

mod report;

pub use report::{MAX_REPORT_BYTES, agent_report_text, fenced, report_text};

use crate::model::{Failure, FailureClass, How, Status, Task, TaskMode, TaskState, TaskWait};

/// The facts that decide the next step of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskFacts<'a> {
    pub state: &'a TaskState,
    pub mode: TaskMode,
    /// Whether a message to the session began the current turn.
    pub has_message: bool,
    /// `None` if the task has no session yet.
    pub session: Option<TaskSession>,
}

/// The facts about the session of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSession {
    pub status: Status,
    /// Whether its newest launch has no recorded end.
    pub is_open: bool,
    /// Whether messages to the agent are queued.
    pub has_queued: bool,
}

/// The next step of the work on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStep {
    /// Start a new session.
    Start,
    /// Send the prompt to the session.
    Send,
    /// Ask the agent to go on after a wait.
    GoOn,
    /// Bring the session back. Its last turn was cut off.
    Resume,
    /// Wait for the end of the turn.
    Await,
}

/// Returns the next step of a task that is taken up: it is at the head of the queue, its wait is
/// over, or a new daemon finds it.
pub fn next_step(facts: &TaskFacts<'_>) -> TaskStep {
    let Some(session) = facts.session else { return TaskStep::Start };
    let needs_prompt = facts.mode == TaskMode::Interactive && !facts.has_message;
    match facts.state {
        TaskState::Queued => TaskStep::Send,
        _ if session.is_cut_off() => TaskStep::Resume,
        TaskState::Waiting(TaskWait::Question { .. }) => TaskStep::Await,
        TaskState::Waiting(_) if !session.is_open => TaskStep::GoOn,
        TaskState::Running if needs_prompt => TaskStep::Send,
        _ => TaskStep::Await,
    }
}

impl TaskSession {
    /// Returns whether the session's turn was cut off or has not begun, and no process works on it.
    fn is_cut_off(self) -> bool {
        let is_settled = match self.status {
            Status::Idle => true,
            Status::Ended(how) => !matches!(how, How::Crashed(_) | How::NeverStarted),
            Status::Starting | Status::Working | Status::Waiting(_) => false,
            Status::Interrupted | Status::Lost => false,
        };
        !self.is_open && (self.has_queued || !is_settled)
    }
}

/// How a turn of a task ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    Succeeded,
    Failed(Failure),
    /// A person stopped the session, or cancelled the message that was to begin the turn.
    Stopped,
    /// The process ended in the middle of the turn.
    CutOff(String),
    /// The conversation is lost: its transcript is gone, and no copy of it exists.
    Lost(String),
    /// The agent asks a person.
    Asks(String),
}

/// The facts about the earlier turns of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "five facts that do not depend on each other")]
pub struct TaskHistory {
    /// Whether the agent may have called a tool in its last turn.
    pub may_have_acted: bool,
    /// Whether the task has begun its conversation. A new conversation would fail in the same way.
    pub has_new_conversation: bool,
    /// Whether the task was retried in a new conversation.
    pub is_fresh_retry: bool,
    /// Whether the session was brought back after its turn was cut off.
    pub was_brought_back: bool,
    /// Whether a lost conversation may be replaced by a new one.
    pub may_begin_anew: bool,
}

/// Returns whether a task whose conversation is lost begins a new one. Not if a person named the
/// session, because then the person wants that conversation. Not a second time, and not in a
/// terminal, where a person sees the loss.
pub fn may_begin_anew(task: &Task) -> bool {
    let Task { order, progress, .. } = task;
    let is_first_loss = progress.lost_conversation.is_none();
    order.mode == TaskMode::Headless && order.continues.is_none() && is_first_loss
}

impl TaskHistory {
    /// Returns whether a turn that failed is retried in a new conversation.
    fn may_be_retried(self) -> bool {
        !self.may_have_acted && !self.has_new_conversation && !self.is_fresh_retry
    }
}

/// The output of a verify command goes back to the agent at most this often.
const MAX_VERIFY_MESSAGES: u32 = 3;

/// Returns whether the output of a verify command that fails goes back to the agent. `failed` is how
/// often that has happened before.
pub fn may_send_back(failed: u32) -> bool {
    failed < MAX_VERIFY_MESSAGES
}

/// What the end of a turn means for a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskVerdict {
    Done,
    Failed {
        reason: String,
    },
    Cancelled,
    Wait(TaskWait),
    /// Start the task once more, in a new conversation.
    RetryFresh {
        reason: String,
    },
    /// Bring the session back, so that the agent goes on.
    BringBack,
    /// Begin a new conversation with the whole prompt, and report the loss of the last one.
    BeginAnew {
        loss: String,
    },
}

/// Decides what the end of a turn means. A task that may have had side effects is never started
/// again from its beginning.
pub fn verdict(end: TurnEnd, history: TaskHistory) -> TaskVerdict {
    match end {
        TurnEnd::Succeeded => TaskVerdict::Done,
        TurnEnd::Stopped => TaskVerdict::Cancelled,
        TurnEnd::Asks(question) => TaskVerdict::Wait(TaskWait::Question { question }),
        TurnEnd::CutOff(_) if !history.was_brought_back => TaskVerdict::BringBack,
        TurnEnd::CutOff(reason) => TaskVerdict::Failed { reason },
        TurnEnd::Lost(loss) if history.may_begin_anew => TaskVerdict::BeginAnew { loss },
        TurnEnd::Lost(reason) => TaskVerdict::Failed { reason },
        TurnEnd::Failed(Failure { class: FailureClass::UsageLimit, resets_at, .. }) => {
            TaskVerdict::Wait(TaskWait::UsageLimit { until: resets_at })
        }
        TurnEnd::Failed(Failure { class: FailureClass::Account, message, .. }) => {
            TaskVerdict::Wait(TaskWait::Account { reason: message })
        }
        TurnEnd::Failed(Failure { class, message, .. }) => {
            let reason = if message.is_empty() { class.to_string() } else { message };
            match history.may_be_retried() {
                true => TaskVerdict::RetryFresh { reason },
                false => TaskVerdict::Failed { reason },
            }
        }
    }
}

/// Returns whether the end of a turn counts for a task in this state. While the turn ran, another
/// request may have ended the task, or queued it again. A turn that never began (`has_begun` is
/// false) leaves its task queued.
pub fn turn_counts(state: &TaskState, has_begun: bool) -> bool {
    match state {
        TaskState::Running | TaskState::Waiting(_) => true,
        TaskState::Queued => !has_begun,
        TaskState::Done | TaskState::Failed { .. } | TaskState::Cancelled => false,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::model::{Exit, WaitingFor};

    /// A session without a process and without queued messages.
    fn at_rest(status: Status) -> Option<TaskSession> {
        Some(TaskSession { status, is_open: false, has_queued: false })
    }

    /// A session with a process.
    fn open(status: Status) -> Option<TaskSession> {
        Some(TaskSession { status, is_open: true, has_queued: false })
    }

    /// A session without a process that has a queued message.
    fn queued_message(status: Status) -> Option<TaskSession> {
        Some(TaskSession { status, is_open: false, has_queued: true })
    }

    #[test]
    fn next_step_of_a_task_depends_on_its_state_and_its_session() {
        use TaskMode::{Headless, Interactive};
        let question = TaskState::Waiting(TaskWait::Question { question: "go on?".to_owned() });
        let limit = TaskState::Waiting(TaskWait::UsageLimit { until: None });
        let (queued, running) = (TaskState::Queued, TaskState::Running);
        let crashed = Status::Ended(How::Crashed(Exit::Signal(9)));
        let failed = Status::Ended(How::Failed(FailureClass::UsageLimit));
        let asks = Status::Waiting(WaitingFor::Permission);
        let lacks = Status::Waiting(WaitingFor::Environment);
        let table = [
            (&queued, Headless, false, None, TaskStep::Start),
            (&limit, Headless, false, None, TaskStep::Start),
            (&queued, Headless, false, at_rest(Status::Idle), TaskStep::Send),
            (&queued, Headless, false, at_rest(Status::Interrupted), TaskStep::Send),
            (&running, Headless, false, open(Status::Working), TaskStep::Await),
            (&running, Headless, false, at_rest(Status::Idle), TaskStep::Await),
            (&running, Headless, true, queued_message(Status::Idle), TaskStep::Resume),
            (&running, Headless, false, at_rest(crashed), TaskStep::Resume),
            (&running, Headless, false, at_rest(lacks), TaskStep::Resume),
            (&running, Headless, false, at_rest(Status::Interrupted), TaskStep::Resume),
            (&running, Interactive, false, open(Status::Idle), TaskStep::Send),
            (&running, Interactive, true, open(Status::Idle), TaskStep::Await),
            (&question, Interactive, true, open(asks), TaskStep::Await),
            (&question, Headless, false, open(asks), TaskStep::Await),
            (&question, Headless, false, at_rest(Status::Interrupted), TaskStep::Resume),
            (&question, Interactive, true, at_rest(crashed), TaskStep::Resume),
            (&limit, Headless, false, at_rest(failed), TaskStep::GoOn),
            (&limit, Headless, true, at_rest(Status::Interrupted), TaskStep::Resume),
        ];
        for (state, mode, has_message, session, expected) in table {
            let facts = TaskFacts { state, mode, has_message, session };
            assert_eq!(next_step(&facts), expected, "{facts:?}");
        }
    }

    #[test]
    fn output_of_a_failed_verify_command_goes_back_three_times() {
        let sent = (0..10).take_while(|failed| may_send_back(*failed)).count();
        assert_eq!(sent, 3);
    }

    #[test]
    fn resumed_task_is_retried_once_if_nothing_was_done_and_waits_for_limits_and_accounts() {
        let failure = |class| {
            let (message, resets_at) = ("it failed".to_owned(), Some(Timestamp::UNIX_EPOCH));
            TurnEnd::Failed(Failure { class, message, resets_at })
        };
        let resumed = TaskHistory::default();
        let fresh = TaskHistory { has_new_conversation: true, ..resumed };
        let acted = TaskHistory { may_have_acted: true, ..resumed };
        let retried = TaskHistory { is_fresh_retry: true, ..resumed };
        let brought_back = TaskHistory { was_brought_back: true, ..resumed };
        let begins_anew = TaskHistory { may_begin_anew: true, ..acted };
        let reason = || "it failed".to_owned();
        let cut_off = || TurnEnd::CutOff(reason());
        let until = Some(Timestamp::UNIX_EPOCH);
        let question = || "go on?".to_owned();
        let table = [
            (TurnEnd::Succeeded, acted, TaskVerdict::Done),
            (TurnEnd::Stopped, fresh, TaskVerdict::Cancelled),
            (
                TurnEnd::Asks(question()),
                fresh,
                TaskVerdict::Wait(TaskWait::Question { question: question() }),
            ),
            (cut_off(), acted, TaskVerdict::BringBack),
            (cut_off(), brought_back, TaskVerdict::Failed { reason: reason() }),
            (TurnEnd::Lost(reason()), begins_anew, TaskVerdict::BeginAnew { loss: reason() }),
            (TurnEnd::Lost(reason()), resumed, TaskVerdict::Failed { reason: reason() }),
            (
                failure(FailureClass::UsageLimit),
                acted,
                TaskVerdict::Wait(TaskWait::UsageLimit { until }),
            ),
            (
                failure(FailureClass::Account),
                acted,
                TaskVerdict::Wait(TaskWait::Account { reason: reason() }),
            ),
            (failure(FailureClass::Service), resumed, TaskVerdict::RetryFresh { reason: reason() }),
            (failure(FailureClass::Service), acted, TaskVerdict::Failed { reason: reason() }),
            (failure(FailureClass::Service), fresh, TaskVerdict::Failed { reason: reason() }),
            (failure(FailureClass::Other), retried, TaskVerdict::Failed { reason: reason() }),
        ];
        for (end, history, expected) in table {
            assert_eq!(verdict(end.clone(), history), expected, "{end:?} {history:?}");
        }
    }

    #[test]
    fn turn_counts_only_for_a_task_that_was_neither_ended_nor_queued_again_meanwhile() {
        let waiting = TaskState::Waiting(TaskWait::UsageLimit { until: None });
        let failed = TaskState::Failed { reason: "no disk".to_owned() };
        let table = [
            (TaskState::Running, true, true),
            (waiting, true, true),
            (TaskState::Queued, true, false),
            (TaskState::Queued, false, true),
            (TaskState::Done, true, false),
            (failed, false, false),
            (TaskState::Cancelled, true, false),
        ];
        for (state, has_begun, expected) in table {
            assert_eq!(turn_counts(&state, has_begun), expected, "{state:?} {has_begun}");
        }
    }
}
