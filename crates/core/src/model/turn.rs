//! One entry of a conversation, independent of the vendor's format.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Usage;
use crate::word_enum::word_enum;

/// One message, tool call or tool result of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    pub role: Role,
    /// The text of a message. For a tool call the arguments as JSON, for a tool result the output.
    pub text: String,
    /// The tool, if this is a tool call or a tool result.
    pub tool: Option<Tool>,
    pub at: Option<Timestamp>,
    /// The model that wrote the text.
    pub model: Option<String>,
    pub usage: Option<Usage>,
}

impl Turn {
    /// Creates a turn with a role and a text and no other data.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), tool: None, at: None, model: None, usage: None }
    }

    /// Returns the turn with the given timestamp.
    #[must_use]
    pub fn at(self, at: Option<Timestamp>) -> Self {
        Self { at, ..self }
    }

    /// Returns the turn with the given tool.
    #[must_use]
    pub fn with_tool(self, tool: Tool) -> Self {
        Self { tool: Some(tool), ..self }
    }
}

word_enum! {
    /// The author and the type of a turn.
    pub enum Role {
        User = "user",
        Assistant = "assistant",
        ToolCall = "tool_call",
        ToolResult = "tool_result",
        /// A summary that replaced earlier turns when the conversation was compacted.
        Summary = "summary",
    }
}

/// The tool that a turn is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Links a tool call to its result.
    pub id: String,
    /// The tool's name. Empty in a result if only the tool call contains the name.
    pub name: String,
    /// Whether the tool failed.
    pub failed: bool,
}
