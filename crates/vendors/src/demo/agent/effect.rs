//! The events that the engine handles, and the effects that it returns.

use std::time::Duration;

use super::super::records::LiveStatus;

/// An input of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DemoEvent {
    Begin {
        is_trusted: bool,
        prompt: Option<String>,
    },
    Message(String),
    /// The answer to a dialog. `None` if the dialog was dismissed.
    Choice(Option<usize>),
    Interrupt,
    /// The requested wake-up time has come.
    Tick,
    ToolStarted(u32),
    ToolFailed(String),
    ToolEnded,
    /// The content of a file, or why it could not be read.
    FileRead(Result<String, String>),
}

/// An action that the engine decides on and `body` carries out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DemoEffect {
    /// Appends a line to the transcript and shows it.
    Record(LineAuthor, String),
    /// Records the end of the turn in the transcript.
    EndTurn,
    /// Publishes the status of the agent.
    Status(LiveStatus),
    /// Shows a text that is not part of the conversation.
    Notice(String),
    /// Shows an incomplete answer. The transcript gets the answer when it is complete.
    Streamed(String),
    Wake(Duration),
    StartTool {
        duration: Duration,
        placement: Placement,
    },
    StopTool,
    /// Asks a person by running a command.
    Ask(DemoDialog),
    Read(String),
    /// Records that the folder is trusted.
    Trust,
    Show(Show),
    /// Continues in a new conversation.
    Clear,
    /// Continues in a copy of the conversation.
    Fork,
    /// The request is complete.
    Finished {
        ok: bool,
        text: String,
    },
    /// Stops reading from the terminal.
    Deaf,
    Exit(u8),
    /// Crashes with this exit code, or by a signal if it is `None`.
    Crash(Option<u8>),
}

/// The author of a line of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineAuthor {
    User,
    Assistant,
    ToolCall,
    ToolResult,
}

/// Where a tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// In the agent's process session. The agent waits for the tool.
    Foreground,
    /// In a process session of its own. The tool outlives the agent.
    OwnSession,
}

/// Output that only a terminal can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Show {
    Fill(u32),
    Alternate,
    Mouse,
    Title(String),
    Bell,
}

/// A question that is answered with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demo) struct DemoDialog {
    pub(in crate::demo) question: &'static str,
    pub(in crate::demo) choices: &'static [&'static str],
}
