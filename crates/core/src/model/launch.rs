//! One process life of a session.

use std::fmt;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{LaunchId, MachineId, ProcessRef, SessionId, VendorSessionId};
use crate::word_enum::word_enum;

/// One process life of a session: what was started, where, when, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    pub id: LaunchId,
    pub session: SessionId,
    /// 1 for the session's first launch.
    pub number: u32,
    pub mode: LaunchMode,
    /// The vendor's session id that this launch was asked to use. `None` if the vendor chooses the
    /// id itself.
    pub planned: Option<VendorSessionId>,
    /// The message on the command line. It is kept so that a launch whose agent never answered can
    /// be repeated.
    pub message: Option<String>,
    pub program: PathBuf,
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    pub vendor_version: Option<String>,
    pub git_commit: Option<String>,
    /// Names of the environment variables. Only the holder's memory has the values.
    pub environment: Vec<String>,
    pub created_at: Timestamp,
    /// The machine that started the launch. `None` if the launch is older than this record; it then
    /// counts as a launch of this machine.
    #[serde(default)]
    pub machine: Option<MachineId>,
    pub holder: Option<ProcessRef>,
    pub agent: Option<ProcessRef>,
    pub end: Option<LaunchEnd>,
}

impl Launch {
    /// Returns whether no end of the launch is recorded yet.
    pub fn is_open(&self) -> bool {
        self.end.is_none()
    }
}

word_enum! {
    /// Whether a launch starts a new conversation or resumes one.
    pub enum LaunchMode {
        Fresh = "fresh",
        Resume = "resume",
    }
}

/// The end of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchEnd {
    pub exit: Exit,
    /// `segue stop` requested the end.
    #[serde(rename = "asked", alias = "is_requested")]
    pub is_requested: bool,
    pub at: Timestamp,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// No process collected the exit status. This is never treated as a success.
    Unknown,
    /// The process was never started.
    NeverStarted,
}

impl Exit {
    /// Returns whether the exit code is 0: the user quit the agent, and it did not crash.
    pub fn is_clean(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => f.write_str("unknown"),
            Self::NeverStarted => f.write_str("never started"),
        }
    }
}
