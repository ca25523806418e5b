//! What a message consists of.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A part of a message.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) data: Value,
    /// What a tool was called with, as it was written.
    pub(super) input: Option<String>,
}

/// A tool's part, as far as it has to stay as it was written.
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
    /// Reads a part. What cannot be understood says nothing.
    pub(super) fn read(text: &str) -> Self {
        let data: Value = serde_json::from_str(text).unwrap_or_default();
        let called = || serde_json::from_str::<Called<'_>>(text).ok();
        let input = if data["type"] == "tool" { called() } else { None };
        let input = input.map(|called| called.state.input.get());
        // What was written on several lines is not what anybody called it with.
        let input = input.filter(|input| !input.contains('\n')).map(str::to_owned);
        Self { data, input }
    }
}
