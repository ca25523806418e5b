//! Decides whether and how the turn of an agent is interrupted.

use crate::error::{Error, Result};
use crate::model::{InterruptMethod, Session, Status};

/// What is known about the process of a session whose turn is to be interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterruptFacts {
    pub runs: bool,
    /// Whether the screen shows a question. The keys that interrupt a turn would answer it.
    pub shows_question: bool,
}

/// Returns how the turn of a session is interrupted. Fails if the agent does not work now.
pub fn decide(session: &Session, facts: InterruptFacts) -> Result<InterruptMethod> {
    let name = session.address();
    let refuse = |why: &str| Error::conflict(format!("`{name}` {why}"));
    if facts.shows_question || matches!(session.status, Status::Waiting(it) if it.needs_answer()) {
        return Err(refuse("does not work: it asks a question")
            .hint(format!("run `segue answer {name} no` to answer it")));
    }
    if !facts.runs {
        return Err(refuse("is not running: there is no turn to interrupt"));
    }
    match session.status {
        Status::Working if session.headless => Ok(InterruptMethod::Stop),
        Status::Working => Ok(InterruptMethod::Keys),
        // A headless launch is nothing but a turn.
        Status::Starting if session.headless => Ok(InterruptMethod::Stop),
        status => Err(refuse(&format!("does not work: it is {}", status.word()))
            .hint(format!("run `segue stop {name}` to end its process"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::samples;
    use crate::model::{How, WaitingFor};

    #[test]
    fn only_a_working_agent_is_interrupted_and_a_question_is_never_answered() {
        let permission = Status::Waiting(WaitingFor::Permission);
        let (live, asking) = ((true, false), (true, true));
        let table = [
            (Status::Working, false, live, Ok(InterruptMethod::Keys)),
            (Status::Working, true, live, Ok(InterruptMethod::Stop)),
            (Status::Starting, true, live, Ok(InterruptMethod::Stop)),
            (Status::Starting, false, live, Err("it is starting")),
            (Status::Idle, false, live, Err("it is idle")),
            (Status::Working, false, asking, Err("it asks a question")),
            (permission, false, live, Err("it asks a question")),
            (permission, true, live, Err("it asks a question")),
            (Status::Working, false, (false, false), Err("is not running")),
            (Status::Idle, true, (false, false), Err("is not running")),
            (Status::Waiting(WaitingFor::Choice), false, (false, false), Err("is not running")),
            (Status::Ended(How::Stopped), false, (false, false), Err("is not running")),
        ];
        for (status, headless, (runs, shows_question), expected) in table {
            let session = Session { status, headless, ..samples::session(1, "coder") };
            let found = decide(&session, InterruptFacts { runs, shows_question });
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{status:?}"),
                (Err(error), Err(part)) => {
                    assert!(error.message.contains(part), "{status:?}: {}", error.message);
                }
                (found, expected) => panic!("{status:?} {headless}: {found:?}, not {expected:?}"),
            }
        }
    }
}
