//! JSON for programs: one document on one line.

use segue_core::rules::display::is_misleading;
use segue_core::{Error, Result};
use serde::Serialize;

/// Returns a value as one line of JSON, with its line break.
pub(crate) fn line(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string(value)
        .map_err(|error| Error::internal("cannot write the answer as JSON").caused_by(error))?;
    Ok(escaped(text) + "\n")
}

/// Escapes characters that JSON allows, but that a terminal would act on or that would mislead a
/// reader. The parsed value stays the same.
fn escaped(text: String) -> String {
    // Printable ASCII is tested first, because it is fast and most answers have nothing else.
    let is_printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_printable || !text.contains(is_misleading) {
        return text;
    }
    let escape = |character: char| {
        if is_misleading(character) {
            format!("\\u{:04x}", u32::from(character))
        } else {
            character.to_string()
        }
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_one_line_with_control_characters_escaped_and_the_value_unchanged() {
        let value = "red \u{1b}[31m \u{9b}31m \u{7f} \u{202e} two\nlines ü";
        let text = line(&value).unwrap();
        assert_eq!(text, "\"red \\u001b[31m \\u009b31m \\u007f \\u202e two\\nlines ü\"\n",);
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), value);
    }
}
