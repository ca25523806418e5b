//! The arguments of a tool call, as a JSON object on one line.

use serde_json::value::RawValue;

/// Returns the arguments of a tool call as a JSON object, which vendors require. A text that is no
/// JSON object becomes the field `input` of one.
pub(crate) fn arguments(text: &str) -> Box<RawValue> {
    let trimmed = text.trim();
    let is_object = trimmed.starts_with('{') && serde_json::from_str::<&RawValue>(trimmed).is_ok();
    let object = if is_object {
        // Valid JSON has no raw line breaks inside strings, so this changes only whitespace.
        trimmed.replace(['\n', '\r'], " ")
    } else {
        serde_json::json!({ "input": text }).to_string()
    };
    RawValue::from_string(object).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_an_object_on_one_line() {
        let table = [
            (r#"{"b": 1, "a": "x\ny"}"#, r#"{"b": 1, "a": "x\ny"}"#),
            ("{\n  \"a\": 1\r\n}\n", r#"{   "a": 1  }"#),
            ("ls -l", r#"{"input":"ls -l"}"#),
            ("[1]", r#"{"input":"[1]"}"#),
            ("{\"a\":1} {}", r#"{"input":"{\"a\":1} {}"}"#),
            ("", r#"{"input":""}"#),
            ("{torn", r#"{"input":"{torn"}"#),
        ];
        for (text, wanted) in table {
            assert_eq!(arguments(text).get(), wanted, "{text}");
        }
    }
}
