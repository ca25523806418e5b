//! The parts of written messages.

use segue_core::model::{Role, Turn};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::shared::reading::arguments;

/// The error of a tool call that has no result.
const NO_RESULT: &str = "no result";

/// A text part.
#[derive(Serialize)]
pub(super) struct NewTextPart<'a> {
    pub(super) r#type: &'static str,
    pub(super) text: &'a str,
    pub(super) time: PartTime,
}

impl<'a> NewTextPart<'a> {
    pub(super) fn new(text: &'a str, at: i64) -> Self {
        Self { r#type: "text", text, time: PartTime { start: at, end: at } }
    }
}

#[derive(Clone, Copy, Serialize)]
pub(super) struct PartTime {
    pub(super) start: i64,
    pub(super) end: i64,
}

/// A part with a tool call and its result.
#[derive(Serialize)]
pub(super) struct NewToolPart<'a> {
    pub(super) r#type: &'static str,
    pub(super) tool: &'a str,
    #[serde(rename = "callID")]
    pub(super) call: &'a str,
    pub(super) state: ToolState<'a>,
}

/// The input and the outcome of a tool call.
#[derive(Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(super) enum ToolState<'a> {
    Completed {
        input: Box<RawValue>,
        output: &'a str,
        title: &'a str,
        metadata: Value,
        time: PartTime,
    },
    Error {
        input: Box<RawValue>,
        error: &'a str,
        time: PartTime,
    },
}

impl<'a> ToolState<'a> {
    pub(super) fn new(call: &Turn, result: Option<&'a Turn>, time: PartTime) -> Self {
        let is_call = call.role == Role::ToolCall;
        let input = arguments(if is_call { &call.text } else { "{}" });
        let failed = |result: &Turn| result.tool.as_ref().is_some_and(|tool| tool.failed);
        match result {
            Some(Turn { text: output, .. }) if !result.is_some_and(failed) => {
                Self::Completed { input, output, title: "", metadata: json!({}), time }
            }
            _ => {
                Self::Error { input, error: result.map_or(NO_RESULT, |result| &result.text), time }
            }
        }
    }
}

/// A part with its id and the ids of its session and message.
#[derive(Serialize)]
pub(super) struct Placed<'a, T> {
    pub(super) id: String,
    #[serde(rename = "sessionID")]
    pub(super) session: &'a str,
    #[serde(rename = "messageID")]
    pub(super) message: &'a str,
    #[serde(flatten)]
    pub(super) part: T,
}
