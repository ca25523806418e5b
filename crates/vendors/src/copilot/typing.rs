//! Prepares a message so that Copilot accepts it as text, and predicts how the transcript records
//! it.

use segue_core::ports::Typing;

use crate::shared::typed_text::{ZERO_WIDTH_SPACE, terminal_text};

/// Messages that end the program.
const EXIT_WORDS: [&str; 3] = ["exit", "quit", "bye"];

pub(super) fn typing(message: &str) -> Typing {
    let mut text = escaped(&terminal_text(message));
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    if text.ends_with('\\') || last.starts_with(['@', '#']) {
        // The space stops Enter from beginning another line, or from accepting a suggestion.
        // Copilot does not record a space at the end.
        text.push(' ');
    }
    Typing { text, recorded_as: normalize(message) }
}

/// Puts a zero-width space before a message that Copilot would run as a command.
pub(super) fn escaped(message: &str) -> String {
    let trimmed = message.trim_start();
    let is_command = trimmed.starts_with(['/', '!']) || EXIT_WORDS.contains(&trimmed.trim_end());
    if is_command { format!("{ZERO_WIDTH_SPACE}{message}") } else { message.to_owned() }
}

/// Normalizes a text, so that a typed message and its record compare equal.
pub(super) fn normalize(text: &str) -> String {
    let visible: String = terminal_text(text).chars().filter(|c| *c != ZERO_WIDTH_SPACE).collect();
    visible.replace('\t', "    ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_that_looks_like_a_command_is_typed_as_text() {
        let table = [
            ("hello", "hello"),
            ("/help me", "\u{200b}/help me"),
            (" !ls", "\u{200b} !ls"),
            ("# note", "# note"),
            ("? what", "? what"),
            ("- item", "- item"),
            ("@file look", "@file look"),
            ("look at @file", "look at @file "),
            ("see #12", "see #12 "),
            (" exit ", "\u{200b} exit "),
            ("exit now", "exit now"),
            ("a line \\", "a line \\ "),
        ];
        for (message, typed) in table {
            assert_eq!(typing(message).text, typed, "{message}");
            assert_eq!(normalize(&typing(message).text), typing(message).recorded_as, "{message}");
        }
    }

    #[test]
    fn line_ends_and_control_characters_are_normalized_as_copilot_records_them() {
        let typed = typing("a\r\nb\x1b[201~\x07  ");
        assert_eq!(typed.text, "a\nb[201~  ");
        assert_eq!(typed.recorded_as, "a\nb[201~");
    }
}
