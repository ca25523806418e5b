//! The parts of a message.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A part of a message.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) data: Value,
    /// The input of a tool call as it was written.
    pub(super) input: Option<String>,
}

/// The fields of a tool call that have to stay as they were written.
#[derive(Deserialize)]
struct Called<'a> {
    #[serde(borrow)]
    state: Given<'a>,
}

#[derive(Deserialize)]
struct Given<'a> {
    #[serde(borrow)]
    input: &'a RawValue,
}

impl Part {
    /// Parses a part. Invalid JSON becomes an empty part.
    pub(super) fn read(text: &str) -> Self {
        let data: Value = serde_json::from_str(text).unwrap_or_default();
        let called = || serde_json::from_str::<Called<'_>>(text).ok();
        let input = if data["type"] == "tool" { called() } else { None };
        let input = input.map(|called| called.state.input.get());
        // Input on several lines was reformatted, so it is not the original input of the call.
        let input = input.filter(|input| !input.contains('\n')).map(str::to_owned);
        Self { data, input }
    }
}
