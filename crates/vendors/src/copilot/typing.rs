//! How a message is typed so that it arrives as text, and how the transcript records it.

use segue_core::ports::Typing;

use crate::shared::typed_text::{ZERO_WIDTH_SPACE, terminal_text};

/// Words that end the program if the message contains nothing else.
const ENDS_IT: [&str; 3] = ["exit", "quit", "bye"];

pub(super) fn typing(message: &str) -> Typing {
    let mut text = plain(&terminal_text(message));
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    if text.ends_with('\\') || last.starts_with(['@', '#']) {
        // Enter would begin another line, or accept a suggestion. The space prevents that, and
        // Copilot does not record a space at the end.
        text.push(' ');
    }
    Typing { text, recorded_as: normal(message) }
}

/// Returns the message in a form that Copilot does not run as a command.
pub(super) fn plain(message: &str) -> String {
    let begin = message.trim_start();
    let is_command = begin.starts_with(['/', '!']) || ENDS_IT.contains(&begin.trim_end());
    if is_command { format!("{ZERO_WIDTH_SPACE}{message}") } else { message.to_owned() }
}

/// Normalizes a text, so that a typed message and its record compare equal.
pub(super) fn normal(text: &str) -> String {
    let seen: String = terminal_text(text).chars().filter(|c| *c != ZERO_WIDTH_SPACE).collect();
    seen.replace('\t', "    ").trim().to_owned()
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
            assert_eq!(normal(&typing(message).text), typing(message).recorded_as, "{message}");
        }
    }

    #[test]
    fn line_ends_and_control_characters_are_normalized_as_copilot_records_them() {
        let typed = typing("a\r\nb\x1b[201~\x07  ");
        assert_eq!(typed.text, "a\nb[201~  ");
        assert_eq!(typed.recorded_as, "a\nb[201~");
    }
}
