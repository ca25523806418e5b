//! What was said in a conversation, whatever the vendor's format.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One thing that was said or done in a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub role: Role,
    /// The words; of a tool call its arguments as JSON, of a tool result what the tool gave.
    pub text: String,
    /// The tool of a call or a result.
    pub tool: Option<Tool>,
    pub at: Option<Timestamp>,
    /// The model that said it.
    pub model: Option<String>,
    pub usage: Option<Usage>,
}

impl Turn {
    /// Makes a turn of which nothing but its words is known.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), tool: None, at: None, model: None, usage: None }
    }

    /// Returns the turn with the time at which it was said.
    #[must_use]
    pub fn at(self, at: Option<Timestamp>) -> Self {
        Self { at, ..self }
    }

    /// Returns the turn with the tool that it is about.
    #[must_use]
    pub fn with_tool(self, tool: Tool) -> Self {
        Self { tool: Some(tool), ..self }
    }
}

/// Who a turn is from, and what sort of thing it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
    ToolCall,
    ToolResult,
    /// What stands for earlier turns since they were compacted.
    Summary,
}

impl Role {
    /// Returns the word used in tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::Summary => "summary",
        }
    }
}

/// The tool that a turn is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Joins a call and its result.
    pub id: String,
    /// Empty where only the call names it.
    pub name: String,
    /// The result is a failure.
    pub failed: bool,
}

/// What a turn cost, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
}
