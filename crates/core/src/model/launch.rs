//! One process life of a session.

use std::fmt;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{LaunchId, ProcessRef, SessionId, VendorSessionId};

/// One process life: what was started, where, when, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    pub id: LaunchId,
    pub session: SessionId,
    /// 1 for the session's first launch.
    pub number: u32,
    pub mode: LaunchMode,
    /// The vendor's id that this launch was asked to use, if one could be asked for.
    pub planned: Option<VendorSessionId>,
    /// The message that the command line carries, so that a launch that never spoke can be repeated.
    pub message: Option<String>,
    pub program: PathBuf,
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    pub vendor_version: Option<String>,
    pub git_commit: Option<String>,
    /// Names only; the values live in the holder's memory.
    pub environment: Vec<String>,
    pub created_at: Timestamp,
    pub holder: Option<ProcessRef>,
    pub agent: Option<ProcessRef>,
    pub end: Option<LaunchEnd>,
}

impl Launch {
    /// Tells whether nobody has recorded an end yet.
    pub fn is_open(&self) -> bool {
        self.end.is_none()
    }
}

/// Whether a launch begins a conversation or goes on with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchMode {
    Fresh,
    Resume,
}

/// The end of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchEnd {
    pub exit: Exit,
    /// `segue stop` asked for it.
    pub asked: bool,
    pub at: Timestamp,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// Nobody collected its status: this is never a success.
    Unknown,
    /// It was never started.
    NeverStarted,
}

impl Exit {
    /// Tells whether the user left the agent, as opposed to a crash.
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
