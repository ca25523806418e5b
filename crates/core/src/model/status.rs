//! The current status of a session.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Exit, FailureClass};
use crate::word_enum::word_enum;

/// The current status of a session, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status", content = "detail")]
pub enum Status {
    /// A launch is recorded, but no signal of its process has arrived yet.
    Starting,
    Working,
    Waiting(WaitingFor),
    Idle,
    /// The process is gone without a clean end. `segue resume` brings the session back. Earlier
    /// versions stored this status as `lost`.
    #[serde(alias = "lost")]
    Interrupted,
    Ended(How),
    /// The conversation is found nowhere: no transcript, no guard and no archive has it.
    #[serde(rename = "lost_conversation")]
    Lost,
}

word_enum! {
    /// A [`Status`] without its details. Its words are the tags of a stored [`Status`], except for
    /// `lost`.
    pub enum StatusKind {
        Starting = "starting",
        Working = "working",
        Waiting = "waiting",
        Idle = "idle",
        Interrupted = "interrupted",
        Ended = "ended",
        Lost = "lost",
    }
}

word_enum! {
    /// What a waiting session waits for.
    pub enum WaitingFor {
        /// The vendor asks whether the folder is trusted.
        Trust = "trust",
        /// The vendor asks whether it may run a tool.
        Permission = "permission",
        /// The agent asks its user a question.
        Question = "question",
        /// A restart needs environment variables that no source has.
        Environment = "environment",
        /// The agent failed too often. The user must choose how to continue.
        Choice = "choice",
    }
}

/// How the last launch of a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The user quit the agent: exit code 0, no signal.
    Quit,
    /// The user ran `segue stop`.
    Stopped,
    /// The process ended by itself with a failure.
    Crashed(Exit),
    /// A headless turn ended, and the vendor did not report success.
    TurnFailed,
    /// A headless turn failed, and the vendor reported the reason.
    Failed(FailureClass),
    /// The process could not be started.
    NeverStarted,
}

impl Status {
    /// Returns the status without its details.
    pub fn kind(self) -> StatusKind {
        match self {
            Self::Starting => StatusKind::Starting,
            Self::Working => StatusKind::Working,
            Self::Waiting(_) => StatusKind::Waiting,
            Self::Idle => StatusKind::Idle,
            Self::Interrupted => StatusKind::Interrupted,
            Self::Ended(_) => StatusKind::Ended,
            Self::Lost => StatusKind::Lost,
        }
    }

    /// Returns the word used in tables and JSON.
    pub fn word(self) -> &'static str {
        self.kind().word()
    }

    /// Returns what the session waits for. `None` if it does not wait.
    pub fn waiting_for(self) -> Option<WaitingFor> {
        match self {
            Self::Waiting(reason) => Some(reason),
            _ => None,
        }
    }

    /// Returns the details of the status as text. `None` if the status has none.
    pub fn detail(self) -> Option<String> {
        match self {
            Self::Waiting(reason) => Some(reason.to_string()),
            Self::Ended(how) => Some(how.to_string()),
            _ => None,
        }
    }

    /// Returns whether a process is expected to be alive in this status.
    pub fn expects_process(self) -> bool {
        match self {
            Self::Starting | Self::Working | Self::Idle => true,
            Self::Waiting(reason) => reason.needs_answer(),
            Self::Interrupted | Self::Ended(_) | Self::Lost => false,
        }
    }
}

impl WaitingFor {
    /// Returns whether a running agent asks a question on its terminal. With the other reasons, no
    /// agent runs.
    pub fn needs_answer(self) -> bool {
        match self {
            Self::Trust | Self::Permission | Self::Question => true,
            Self::Environment | Self::Choice => false,
        }
    }
}

impl fmt::Display for WaitingFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quit => f.write_str("quit"),
            Self::Stopped => f.write_str("stopped"),
            Self::Crashed(exit) => write!(f, "crashed: {exit}"),
            Self::TurnFailed => f.write_str("the turn failed"),
            Self::Failed(class) => write!(f, "the turn failed: {class}"),
            Self::NeverStarted => f.write_str("never started"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_of_a_stored_status_is_the_word_of_its_kind_except_for_lost() {
        let all = [
            Status::Starting,
            Status::Working,
            Status::Waiting(WaitingFor::Trust),
            Status::Idle,
            Status::Interrupted,
            Status::Ended(How::Quit),
            Status::Lost,
        ];
        assert_eq!(all.map(Status::kind).as_slice(), StatusKind::ALL);
        for status in all {
            let stored = serde_json::to_value(status).unwrap();
            let is_lost = status == Status::Lost;
            let word = if is_lost { "lost_conversation" } else { status.word() };
            assert_eq!(stored["status"], word);
            assert_eq!(serde_json::from_value::<Status>(stored).unwrap(), status);
        }
    }

    #[test]
    fn lost_process_of_an_earlier_version_is_read_as_interrupted() {
        let read = |text| serde_json::from_str::<Status>(text).unwrap();
        assert_eq!(read(r#"{"status":"lost"}"#), Status::Interrupted);
        let waiting = read(r#"{"status":"waiting","detail":"environment"}"#);
        assert_eq!(waiting, Status::Waiting(WaitingFor::Environment));
    }
}
