//! Terminals of agents over a WebSocket, and pictures of their screens.
//!
//! Bytes of the terminal are binary messages in both directions. Everything else is JSON in text
//! messages.

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::word_enum::word_enum;

word_enum! {
    /// What a client wants to do with a terminal.
    pub enum TerminalUse {
        /// Watch it.
        View = "view",
        /// Also type, and influence its size.
        Control = "control",
    }
}

/// The query of `GET /v1/sessions/{id}/terminal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalQuery {
    /// Whether the client only watches.
    pub access: TerminalUse,
    /// The rows of the client's own terminal, if it controls.
    pub rows: Option<u16>,
    /// The columns of the client's own terminal, if it controls.
    pub columns: Option<u16>,
}

/// What the daemon sends to the client of a terminal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TerminalUpdate {
    /// The next binary message clears a terminal and draws the whole screen on it.
    Snapshot { rows: u16, columns: u16 },
    /// How many clients there are, this one included.
    Clients { controllers: usize, viewers: usize },
    /// Whether the agent uses the alternate screen and mouse reports.
    Uses { alternate: bool, mouse: bool },
    /// The requested lines. `first` is the number of the first of them among `total` lines.
    Scrollback {
        first: usize,
        lines: Vec<String>,
        total: usize,
        /// Whether older lines were dropped.
        has_forgotten: bool,
        /// Whether the last lines are the alternate screen, which has no scrollback.
        alternate: bool,
    },
    /// A request or input was refused.
    Refused { message: String },
    /// The agent has ended.
    Ended { how: String },
    /// The answer to a ping, with its id.
    Pong {
        #[schemars(schema_with = "any_value")]
        id: Value,
    },
}

/// What the client of a terminal requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TerminalRequest {
    /// The size of the client's own terminal.
    Resize { rows: u16, columns: u16 },
    /// A new snapshot.
    Repaint,
    /// At most `count` lines before the line with the number `before` or, without it, the newest
    /// lines.
    Scrollback {
        #[serde(default)]
        before: Option<usize>,
        count: usize,
    },
    /// A pong with the same id, which can be any value.
    Ping {
        #[schemars(schema_with = "any_value")]
        id: Value,
    },
}

/// Describes a value of any type. Some generators of clients do not know the schema `true`.
fn any_value(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "description": "Any value" })
}

/// `GET /v1/sessions/{id}/screen`: the text on the screen of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenView {
    pub rows: u16,
    pub columns: u16,
    /// The text of each row, without colours and without the blanks at its end.
    pub lines: Vec<String>,
    pub at: Timestamp,
}
