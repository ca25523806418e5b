//! Escapes messages so that Pi accepts them as text.

use segue_core::ports::Typing;

use crate::shared::typed_text::{self, ZERO_WIDTH_SPACE};

/// Returns the text to type for a message, and the text that the transcript records. The space at
/// the end closes a list of files that the last word may have opened. After a backslash, the space
/// stops Enter from inserting a line break. Pi removes the space.
pub(super) fn typing(message: &str) -> Typing {
    let recorded_as = normalize(message);
    let prefix = recorded_as.starts_with(['/', '!']).then_some(ZERO_WIDTH_SPACE);
    let text = prefix.into_iter().chain(recorded_as.chars()).chain([' ']).collect();
    Typing { text, recorded_as }
}

/// Returns a message as a command-line argument. A leading space stops Pi from parsing the message
/// as a flag, a file or a command.
pub(super) fn argument(message: &str) -> String {
    let is_special = message.starts_with(['-', '@', '/']);
    if is_special { format!(" {message}") } else { message.to_owned() }
}

/// Removes the space that `argument` has added.
pub(super) fn without_space(text: &str) -> String {
    let without = text.strip_prefix(' ').filter(|message| argument(message) == text);
    without.unwrap_or(text).to_owned()
}

/// Removes the character that `typing` or `argument` has put before a recorded message.
pub(super) fn unescaped(text: &str) -> String {
    match text.strip_prefix(ZERO_WIDTH_SPACE) {
        Some(typed) => typed.to_owned(),
        None => without_space(text),
    }
}

/// Normalizes a text, so that a message equals its record in a transcript.
pub(super) fn normalize(text: &str) -> String {
    typed_text::normalize_with_tabs_as_spaces(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_that_looks_like_a_command_is_escaped() {
        let table = [
            ("hello", "hello "),
            ("/new", "\u{200b}/new "),
            ("  !ls", "\u{200b}!ls "),
            ("# note", "# note "),
            ("? what", "? what "),
            ("- item", "- item "),
            ("@file", "@file "),
            ("a line \\", "a line \\ "),
        ];
        for (message, typed) in table {
            assert_eq!(typing(message).text, typed, "{message}");
            assert_eq!(normalize(&typing(message).text), typing(message).recorded_as, "{message}");
        }
    }

    #[test]
    fn tabs_line_ends_and_control_characters_are_normalized_as_pi_records_them() {
        let typed = typing("\ta\r\nb\x1b[201~\x07  ");
        assert_eq!(typed.recorded_as, "a\nb[201~");
        assert_eq!(normalize("    a\nb[201~"), typed.recorded_as);
        assert_eq!(normalize("a\tb"), "a    b");
    }

    #[test]
    fn without_space_keeps_a_leading_space_of_the_user() {
        assert_eq!(without_space(" a"), " a");
    }

    #[test]
    fn argument_that_looks_like_a_flag_a_file_or_a_command_gets_a_space() {
        for (message, word) in [("--help", " --help"), ("@x", " @x"), ("/new", " /new"), ("!", "!")]
        {
            assert_eq!(argument(message), word);
            assert_eq!(normalize(word), message);
            assert_eq!(without_space(word), message);
        }
    }
}
