//! What happens to the agent, and what it then does: data, so that the engine does nothing itself.

use std::time::Duration;

use super::super::records::LiveStatus;

/// Something that happens to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Begin {
        trusted: bool,
        prompt: Option<String>,
    },
    Message(String),
    /// The answer to a dialog; none when it was dismissed.
    Choice(Option<usize>),
    Interrupt,
    /// The wake-up that was asked for.
    Tick,
    ToolStarted(u32),
    ToolFailed(String),
    ToolEnded,
    /// The content of a file, or why there is none.
    FileRead(Result<String, String>),
}

/// Something that the agent does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Appends to the transcript, and shows it.
    Record(Said, String),
    /// Completes the turn in the transcript.
    EndTurn,
    /// Tells everybody what it does.
    Status(LiveStatus),
    /// Says something that is not part of the conversation.
    Notice(String),
    /// The answer as far as it is there; not in the transcript before it is whole.
    Streamed(String),
    Wake(Duration),
    StartTool {
        lasts: Duration,
        placement: Placement,
    },
    StopTool,
    Read(String),
    /// Remembers that the folder is trusted.
    Trust,
    Show(Show),
    /// Goes on in a new conversation.
    Clear,
    /// Goes on in a copy of the conversation.
    Fork,
    /// What was asked for is over.
    Finished {
        ok: bool,
        text: String,
    },
    /// Reads nothing from its terminal any more.
    Deaf,
    Exit(u8),
    /// With an exit status, or by a signal.
    Crash(Option<u8>),
}

/// Who said a line of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    User,
    Assistant,
    ToolCall,
    ToolResult,
}

/// Where a tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// In the agent's process session; the agent waits for it.
    Foreground,
    /// In a process session of its own; it outlives the agent.
    OwnSession,
}

/// What only a terminal can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Show {
    Fill(u32),
    Alternate,
    Mouse,
    Title(String),
    Bell,
}

/// A question that waits for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialog {
    pub(super) question: &'static str,
    pub(super) choices: &'static [&'static str],
}
