//! Parses JSON that other programs wrote.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The most levels of nested objects and lists. Real payloads have fewer than ten.
const MAX_DEPTH: usize = 64;

/// Parses a JSON document. Unknown fields are ignored. The error contains nothing of the document
/// but names of fields.
pub(crate) fn parse<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not valid UTF-8".to_owned())?;
    if depth(bytes) > MAX_DEPTH {
        return Err(format!("it has more than {MAX_DEPTH} nested levels"));
    }
    serde_json::from_str(text).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        let reason = match error.classify() {
            serde_json::error::Category::Eof => "the JSON ends too early",
            serde_json::error::Category::Data => "a field has an unexpected type",
            _ => "it is not valid JSON",
        };
        format!("{reason} ({place})")
    })
}

/// Checks that a document is a JSON object.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    match parse::<IgnoredAny>(bytes) {
        Ok(_) if bytes.trim_ascii_start().starts_with(b"{") => Ok(()),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(reason) => Err(reason),
    }
}

/// Returns how deeply a document is nested. The parser itself does not limit the depth of fields
/// that it ignores.
fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut is_in_string, mut is_escaped) = (false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_in_string => is_escaped = true,
            b'"' => is_in_string = !is_in_string,
            b'{' | b'[' if !is_in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !is_in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_brackets_outside_of_strings() {
        let table = [
            ("1", 0),
            ("{}", 1),
            ("{\"a\":[{}]}", 3),
            ("\"[[[\"", 0),
            ("\"\\\"[[[\"", 0),
            ("[\"\\\\\",[]]", 2),
        ];
        for (text, expected) in table {
            assert_eq!(depth(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn nested_ignored_fields_are_an_error_beyond_the_limit() {
        let nested = |levels: usize| {
            format!("{{\"x\":{}{}}}", "[".repeat(levels), "]".repeat(levels)).into_bytes()
        };
        assert_eq!(check(&nested(MAX_DEPTH - 1)), Ok(()));
        assert_eq!(check(&nested(MAX_DEPTH)), Err("it has more than 64 nested levels".into()));
        assert!(check(&nested(10_000)).is_err());
    }

    #[test]
    fn error_has_no_text_of_the_document() {
        for text in ["{\"id\": \"hush\"}", "{\"hush", "hush", "[]", "\u{fe}"] {
            let error = parse::<std::collections::BTreeMap<String, u8>>(text.as_bytes());
            let error = error.unwrap_err();
            assert!(!error.contains("hush"), "{error}");
        }
        assert_eq!(check(b"\xff"), Err("it is not valid UTF-8".into()));
        assert_eq!(check(b"[]"), Err("it is not a JSON object".into()));
    }
}
