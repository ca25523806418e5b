//! Parses the parts of a message.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A part of a message.
#[derive(Debug, Default)]
pub(super) struct OpencodePart {
    pub(super) data: Value,
    /// The JSON text of the input of a tool call.
    pub(super) input: Option<String>,
}

/// The fields of a tool call whose JSON text must not change.
#[derive(Deserialize)]
struct WrittenToolCall<'a> {
    #[serde(borrow)]
    state: WrittenToolInput<'a>,
}

#[derive(Deserialize)]
struct WrittenToolInput<'a> {
    #[serde(borrow)]
    input: &'a RawValue,
}

impl OpencodePart {
    /// Parses a part. Invalid JSON becomes an empty part.
    pub(super) fn read(text: &str) -> Self {
        let data: Value = serde_json::from_str(text).unwrap_or_default();
        let parse = || serde_json::from_str::<WrittenToolCall<'_>>(text).ok();
        let input = if data["type"] == "tool" { parse() } else { None };
        let input = input.map(|parse| parse.state.input.get());
        // Input on several lines was reformatted, so it is not the original text.
        let input = input.filter(|input| !input.contains('\n')).map(str::to_owned);
        Self { data, input }
    }
}
