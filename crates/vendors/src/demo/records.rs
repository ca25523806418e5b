//! The lines of a transcript and the entry of a live agent, as the demo agent writes them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One line of a transcript. The type comes first in the line, whatever its length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Record {
    /// The header: always the first line.
    Session {
        id: String,
        cwd: String,
        at: Timestamp,
        version: String,
    },
    User {
        text: String,
        at: Timestamp,
    },
    Assistant {
        text: String,
        at: Timestamp,
    },
    ToolCall {
        text: String,
        at: Timestamp,
    },
    ToolResult {
        text: String,
        at: Timestamp,
    },
    /// Without it, the turn was cut off or still runs.
    TurnEnd {
        at: Timestamp,
    },
}

impl Record {
    /// Reads a line; one that is torn, garbage or of an unknown type is nothing.
    pub(crate) fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_str(&String::from_utf8_lossy(line)).ok()
    }
}

/// What `live/<pid>.json` holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LiveEntry {
    pub(crate) pid: u32,
    /// Clock ticks since boot; tells a file that a crash left from one of a live process.
    pub(crate) started: u64,
    pub(crate) id: String,
    pub(crate) cwd: String,
    pub(crate) status: LiveStatus,
    pub(crate) at: Timestamp,
}

/// What a live agent says that it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LiveStatus {
    Starting,
    Working,
    Idle,
    WaitingPermission,
    WaitingTrust,
    WaitingQuestion,
}
