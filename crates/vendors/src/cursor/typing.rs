//! Prepares a message so that Cursor accepts it as text, and predicts how the transcript records
//! it.

use segue_core::ports::{Interaction, Typing};

use super::CursorVendor;
use crate::shared::typed_text::ZERO_WIDTH_SPACE;

/// First characters of a text that Cursor would run as a command, or send to its cloud.
const COMMAND_PREFIXES: [char; 3] = ['/', '&', '!'];

impl Interaction for CursorVendor {
    fn typing(&self, message: &str) -> Typing {
        Typing { text: argument(message), recorded_as: normalize(message) }
    }
}

/// Returns a message as a command-line argument.
pub(super) fn argument(message: &str) -> String {
    let escape = message.trim_start().starts_with(COMMAND_PREFIXES).then_some(ZERO_WIDTH_SPACE);
    escape.into_iter().chain(message.chars()).collect()
}

/// Removes the character that `argument` added.
pub(super) fn unescaped(text: &str) -> String {
    text.strip_prefix(ZERO_WIDTH_SPACE).unwrap_or(text).to_owned()
}

/// Normalizes a text, so that a message and its record compare equal.
pub(super) fn normalize(text: &str) -> String {
    unescaped(&text.replace("\r\n", "\n").replace('\r', "\n")).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_that_looks_like_a_command_is_passed_as_text() {
        for (message, wanted) in [
            ("hello", "hello"),
            ("/clear", "\u{200b}/clear"),
            ("& do it in the cloud", "\u{200b}& do it in the cloud"),
            (" !ls", "\u{200b} !ls"),
        ] {
            let typed = CursorVendor.typing(message);
            assert_eq!(typed.text, wanted);
            assert_eq!(normalize(&typed.text), typed.recorded_as);
            assert_eq!(unescaped(&typed.text), message);
        }
    }
}
