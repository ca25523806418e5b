//! How a message is typed so that it arrives as text, and how the transcript records it.

use segue_core::ports::Typing;

use crate::shared::typed_text::{self, ZERO_WIDTH_SPACE};

/// Returns how a message is typed. The space at the end closes the list of files that the last word
/// may have opened. After a backslash, it stops Enter from beginning another line. Pi removes the
/// space.
pub(super) fn typing(message: &str) -> Typing {
    let recorded_as = normal(message);
    let guard = recorded_as.starts_with(['/', '!']).then_some(ZERO_WIDTH_SPACE);
    let text = guard.into_iter().chain(recorded_as.chars()).chain([' ']).collect();
    Typing { text, recorded_as }
}

/// Returns a message as a command-line argument. A leading space stops Pi from treating it as a
/// flag, a file or a command.
pub(super) fn argument(message: &str) -> String {
    let special = message.starts_with(['-', '@', '/']);
    if special { format!(" {message}") } else { message.to_owned() }
}

/// Returns a message without the space that `argument` added.
pub(super) fn given(text: &str) -> String {
    let before = text.strip_prefix(' ').filter(|message| argument(message) == text);
    before.unwrap_or(text).to_owned()
}

/// Returns a recorded message without the character that stopped Pi from treating it as a command.
pub(super) fn meant(text: &str) -> String {
    match text.strip_prefix(ZERO_WIDTH_SPACE) {
        Some(typed) => typed.to_owned(),
        None => given(text),
    }
}

/// Normalizes a text, so that a typed message and its record compare equal.
pub(super) fn normal(text: &str) -> String {
    typed_text::normalize_with_tabs_as_spaces(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_that_looks_like_a_command_is_typed_as_text() {
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
            assert_eq!(normal(&typing(message).text), typing(message).recorded_as, "{message}");
        }
    }

    #[test]
    fn tabs_line_ends_and_control_characters_are_normalized_as_pi_records_them() {
        let typed = typing("\ta\r\nb\x1b[201~\x07  ");
        assert_eq!(typed.recorded_as, "a\nb[201~");
        assert_eq!(normal("    a\nb[201~"), typed.recorded_as);
        assert_eq!(normal("a\tb"), "a    b");
    }

    #[test]
    fn leading_space_of_the_user_is_kept() {
        assert_eq!(given(" a"), " a");
    }

    #[test]
    fn argument_that_looks_like_a_flag_a_file_or_a_command_gets_a_space() {
        for (message, word) in [("--help", " --help"), ("@x", " @x"), ("/new", " /new"), ("!", "!")]
        {
            assert_eq!(argument(message), word);
            assert_eq!(normal(word), message);
            assert_eq!(given(word), message);
        }
    }
}
