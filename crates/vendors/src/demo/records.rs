//! The lines of a transcript and the live entry, as the demo agent writes them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::shared::reading;

/// One line of a transcript. The type always comes first in the line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum DemoRecord {
    /// The header, which is always the first line.
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
    /// The end of a turn. If it is missing, the turn was interrupted or still runs.
    TurnEnd {
        at: Timestamp,
        /// `None` in turns of other agents.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<DemoWords>,
    },
}

/// The words of a turn, which the demo agent reports as the tokens that it used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DemoWords {
    /// The words of the user's messages and of the tools' results.
    pub(crate) read: u64,
    /// The words of the answers and of the tool calls.
    pub(crate) written: u64,
}

impl DemoRecord {
    /// Parses a line. `None` if it is truncated, invalid or of an unknown type.
    pub(crate) fn read(line: &[u8]) -> Option<Self> {
        reading::parse_json(line)
    }
}

/// The content of `live/<pid>.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LiveEntry {
    pub(crate) pid: u32,
    /// Start time of the process in clock ticks since boot. It differs if a crash left the entry
    /// behind and another process has the same process id now.
    pub(crate) started: u64,
    pub(crate) id: String,
    pub(crate) cwd: String,
    pub(crate) status: LiveStatus,
    pub(crate) at: Timestamp,
    /// The text of the last turn, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
}

/// The status that a live agent publishes.
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
