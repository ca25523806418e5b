//! Decides when to notify the user: a session waits for the user, or cannot continue alone.

use std::fmt;

use crate::api::SessionView;
use crate::model::{Failure, FailureClass, How, RepetitionKind, Status, WaitingFor};
use crate::rules::screens::is_live;

/// Why a session needs the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Waiting(WaitingFor),
    Failed(FailureClass),
    /// The conversation is found nowhere.
    Lost,
    /// The work repeats itself.
    Repeats(RepetitionKind),
}

/// Returns why a session needs the user now. `failure` is the reason why its last turn failed, and
/// `repetition` is what repeats without the user's knowledge. The user is not notified about a
/// session that waits for a command (interrupted, or `WaitingFor::Environment`), because all sessions
/// may do so after a reboot.
pub fn reason(
    status: Status,
    failure: Option<FailureClass>,
    repetition: Option<RepetitionKind>,
) -> Option<Reason> {
    match status {
        Status::Waiting(WaitingFor::Environment) => None,
        Status::Waiting(what) => Some(Reason::Waiting(what)),
        Status::Lost => Some(Reason::Lost),
        _ => {
            let class = current_class(status, failure).filter(|class| class.needs_person());
            class.map(Reason::Failed).or(repetition.map(Reason::Repeats))
        }
    }
}

/// Returns the class of the last turn's failure, unless the failure is obsolete.
fn current_class(status: Status, failure: Option<FailureClass>) -> Option<FailureClass> {
    match status {
        Status::Ended(How::Failed(class)) => Some(class),
        Status::Ended(How::Stopped | How::Quit)
        | Status::Starting
        | Status::Working
        | Status::Waiting(_)
        | Status::Lost => None,
        Status::Ended(_) | Status::Idle | Status::Interrupted => failure,
    }
}

/// Returns why the last turn of a session failed. `None` if it did not fail, or if the session has
/// gone on since. `known` is the failure that the session's process reported.
pub fn current_failure(status: Status, known: Option<&Failure>) -> Option<Failure> {
    let class = current_class(status, known.map(|failure| failure.class))?;
    let known = known.filter(|failure| failure.class == class).cloned();
    let from_status = || Failure { class, message: class.to_string(), resets_at: None };
    Some(known.unwrap_or_else(from_status))
}

/// Returns the command that helps a session which needs a person.
pub fn command(reason: Reason, session: &SessionView) -> String {
    let name = &session.address;
    let attach_or = |other: String| match is_live(session) && !session.headless {
        true => format!("segue attach {name}"),
        false => other,
    };
    match reason {
        Reason::Waiting(what) if what.needs_answer() => match &session.dialog {
            Some(dialog) => dialog.answer.clone(),
            None => format!("segue attach {name}"),
        },
        Reason::Waiting(_) => format!("segue resume {name}"),
        Reason::Failed(FailureClass::UsageLimit) => format!("segue handoff {name} --to VENDOR"),
        Reason::Failed(_) if session.headless => format!("segue send {name} TEXT"),
        Reason::Failed(_) => attach_or(format!("segue resume {name}")),
        Reason::Lost => format!("segue log {name}"),
        Reason::Repeats(RepetitionKind::ToolCalls) => format!("segue interrupt {name}"),
        Reason::Repeats(RepetitionKind::Messages) => format!("segue send {name} TEXT"),
    }
}

/// Returns what a person can do about work that repeats itself.
pub fn repetition_advice(kind: RepetitionKind, name: &str) -> String {
    match kind {
        RepetitionKind::ToolCalls => format!(
            "`segue interrupt {name}` ends the turn, `segue stop {name}` ends the agent; \
             `segue send {name} \"go on\"` lets it continue"
        ),
        RepetitionKind::Messages => format!(
            "further messages are held: `segue send {name} \"go on\"` lets them through, \
             `segue stop {name}` ends the agent"
        ),
    }
}

impl Reason {
    /// Returns the place of the reason in a list: an agent that could go on at once comes first.
    pub fn urgency(self) -> u8 {
        match self {
            Self::Waiting(WaitingFor::Permission) => 0,
            Self::Waiting(WaitingFor::Question) => 1,
            Self::Waiting(WaitingFor::Trust) => 2,
            Self::Waiting(WaitingFor::Choice | WaitingFor::Environment) => 3,
            Self::Failed(_) => 4,
            Self::Repeats(_) => 5,
            Self::Lost => 6,
        }
    }

    /// Returns the word that scripts get.
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting(what) => what.word(),
            Self::Failed(class) => class.word(),
            Self::Lost => "lost",
            Self::Repeats(_) => "loop",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting(WaitingFor::Trust) => f.write_str("asks whether the folder is trusted"),
            Self::Waiting(WaitingFor::Permission) => f.write_str("asks for permission"),
            Self::Waiting(WaitingFor::Question) => f.write_str("asks something"),
            Self::Waiting(WaitingFor::Choice) => f.write_str("could not be brought back"),
            Self::Waiting(WaitingFor::Environment) => f.write_str("waits to be brought back"),
            Self::Failed(class) => write!(f, "cannot go on: {class}"),
            Self::Lost => f.write_str("cannot go on: its conversation is found nowhere"),
            Self::Repeats(RepetitionKind::ToolCalls) => f.write_str("repeats the same tool calls"),
            Self::Repeats(RepetitionKind::Messages) => {
                f.write_str("exchanges messages without end")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::{SessionState, samples, view};
    use crate::model::{Exit, Session};

    #[test]
    fn questions_are_more_urgent_than_sessions_that_cannot_go_on() {
        let reasons = [
            Reason::Waiting(WaitingFor::Permission),
            Reason::Waiting(WaitingFor::Question),
            Reason::Waiting(WaitingFor::Trust),
            Reason::Waiting(WaitingFor::Choice),
            Reason::Failed(FailureClass::Account),
            Reason::Repeats(RepetitionKind::ToolCalls),
            Reason::Lost,
        ];
        assert!(reasons.is_sorted_by_key(|reason| reason.urgency()));
    }

    #[test]
    fn failure_of_the_last_turn_is_shown_until_the_session_goes_on() {
        let limit = Failure {
            class: FailureClass::UsageLimit,
            message: "limit reached".to_owned(),
            resets_at: None,
        };
        let service = Status::Ended(How::Failed(FailureClass::Service));
        let table = [
            (Status::Idle, true, Some("limit reached")),
            (Status::Idle, false, None),
            (Status::Interrupted, true, Some("limit reached")),
            (Status::Working, true, None),
            (Status::Waiting(WaitingFor::Permission), true, None),
            (Status::Ended(How::Stopped), true, None),
            (Status::Ended(How::Failed(FailureClass::UsageLimit)), true, Some("limit reached")),
            // A new daemon knows the class alone.
            (service, false, Some("the service failed")),
            (service, true, Some("the service failed")),
        ];
        for (status, is_known, expected) in table {
            let failure = current_failure(status, Some(&limit).filter(|_| is_known));
            let message = failure.as_ref().map(|failure| failure.message.as_str());
            assert_eq!(message, expected, "{status:?} {is_known}");
        }
    }

    #[test]
    fn each_reason_has_a_command_that_helps() {
        let view = |status: Status, headless: bool| {
            let session = Session { status, headless, ..samples::session(1, "coder") };
            view::session(&view::summary(&SessionState::new(session)))
        };
        let idle = view(Status::Idle, false);
        let ended = view(Status::Ended(How::Crashed(Exit::Code(1))), false);
        let headless = view(Status::Ended(How::Failed(FailureClass::Request)), true);
        let table = [
            (Reason::Waiting(WaitingFor::Permission), &idle, "segue attach default/coder"),
            (Reason::Waiting(WaitingFor::Choice), &ended, "segue resume default/coder"),
            (Reason::Failed(FailureClass::Account), &idle, "segue attach default/coder"),
            (Reason::Failed(FailureClass::Account), &ended, "segue resume default/coder"),
            (Reason::Failed(FailureClass::Request), &headless, "segue send default/coder TEXT"),
            (
                Reason::Failed(FailureClass::UsageLimit),
                &idle,
                "segue handoff default/coder --to VENDOR",
            ),
            (Reason::Lost, &ended, "segue log default/coder"),
            (Reason::Repeats(RepetitionKind::ToolCalls), &idle, "segue interrupt default/coder"),
            (Reason::Repeats(RepetitionKind::Messages), &idle, "segue send default/coder TEXT"),
        ];
        for (reason, session, expected) in table {
            assert_eq!(command(reason, session), expected, "{reason:?}");
        }
    }

    #[test]
    fn user_is_notified_only_if_the_session_cannot_continue_alone() {
        let (account, limit) = (FailureClass::Account, FailureClass::UsageLimit);
        let waits = |what| Some(Reason::Waiting(what));
        let table = [
            (Status::Waiting(WaitingFor::Permission), None, waits(WaitingFor::Permission)),
            (Status::Waiting(WaitingFor::Trust), Some(limit), waits(WaitingFor::Trust)),
            (Status::Waiting(WaitingFor::Question), None, waits(WaitingFor::Question)),
            (Status::Waiting(WaitingFor::Choice), None, waits(WaitingFor::Choice)),
            (Status::Waiting(WaitingFor::Environment), Some(account), None),
            (Status::Idle, Some(limit), Some(Reason::Failed(limit))),
            (Status::Idle, Some(FailureClass::Service), None),
            (Status::Idle, None, None),
            (Status::Working, Some(account), None),
            (Status::Ended(How::Failed(account)), None, Some(Reason::Failed(account))),
            (Status::Ended(How::Failed(FailureClass::Service)), None, None),
            (
                Status::Ended(How::Failed(FailureClass::Request)),
                None,
                Some(Reason::Failed(FailureClass::Request)),
            ),
            (
                Status::Idle,
                Some(FailureClass::Settings),
                Some(Reason::Failed(FailureClass::Settings)),
            ),
            (
                Status::Ended(How::Crashed(Exit::Code(1))),
                Some(account),
                Some(Reason::Failed(account)),
            ),
            (Status::Ended(How::Stopped), Some(account), None),
            (Status::Interrupted, None, None),
            (Status::Lost, None, Some(Reason::Lost)),
        ];
        for (status, failure, expected) in table {
            assert_eq!(reason(status, failure, None), expected, "{status:?} {failure:?}");
        }
    }

    #[test]
    fn repetition_is_reported_after_questions_and_failures() {
        let calls = Some(RepetitionKind::ToolCalls);
        let permission = WaitingFor::Permission;
        let limit = FailureClass::UsageLimit;
        let table = [
            (Status::Working, None, Reason::Repeats(RepetitionKind::ToolCalls)),
            (Status::Idle, None, Reason::Repeats(RepetitionKind::ToolCalls)),
            (Status::Idle, Some(limit), Reason::Failed(limit)),
            (Status::Waiting(permission), None, Reason::Waiting(permission)),
            (Status::Lost, None, Reason::Lost),
        ];
        for (status, failure, expected) in table {
            assert_eq!(reason(status, failure, calls), Some(expected), "{status:?} {failure:?}");
        }
    }
}
