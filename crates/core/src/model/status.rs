//! What a session is doing now.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Exit, FailureClass};

/// What a session is doing, as far as anybody can know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status", content = "detail")]
pub enum Status {
    /// A launch is recorded; its process has not yet shown what it does.
    Starting,
    Working,
    Waiting(WaitingFor),
    Idle,
    Ended(How),
    /// Its process vanished and nobody knows how it ended; a resume may bring it back.
    Lost,
}

/// What must happen before a waiting session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    /// The vendor asks whether the folder is trusted.
    Trust,
    /// The vendor asks whether it may run a tool.
    Permission,
    /// The agent asked its user something.
    Question,
    /// A restart needs environment values that only a person's command can bring.
    Environment,
    /// It failed too often; a person must choose how to go on.
    Choice,
}

/// How the last launch of a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The user left the agent: exit status 0, no signal.
    Quit,
    /// `segue stop`.
    Stopped,
    /// The process ended by itself with a failure.
    Crashed(Exit),
    /// A headless turn ended without the vendor's word that it went well.
    TurnFailed,
    /// A headless turn failed, and the vendor said why.
    Failed(FailureClass),
    /// The process could not be started.
    NeverStarted,
}

impl Status {
    /// The words of all statuses.
    pub const WORDS: [&'static str; 6] =
        ["starting", "working", "waiting", "idle", "ended", "lost"];

    /// Returns the word used in tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Working => "working",
            Self::Waiting(_) => "waiting",
            Self::Idle => "idle",
            Self::Ended(_) => "ended",
            Self::Lost => "lost",
        }
    }

    /// Returns what the word alone does not say.
    pub fn detail(self) -> Option<String> {
        match self {
            Self::Waiting(reason) => Some(reason.to_string()),
            Self::Ended(how) => Some(how.to_string()),
            _ => None,
        }
    }

    /// Tells whether a process is expected to be alive in this status.
    pub fn expects_process(self) -> bool {
        match self {
            Self::Starting | Self::Working | Self::Idle => true,
            Self::Waiting(reason) => {
                !matches!(reason, WaitingFor::Environment | WaitingFor::Choice)
            }
            Self::Ended(_) | Self::Lost => false,
        }
    }
}

impl fmt::Display for WaitingFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Trust => "trust",
            Self::Permission => "permission",
            Self::Question => "question",
            Self::Environment => "environment",
            Self::Choice => "choice",
        })
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
