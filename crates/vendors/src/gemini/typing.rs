//! Escapes messages so that Gemini accepts them as text and keeps them at a resume.

use segue_core::ports::Typing;

use super::messages;
use crate::shared::typed_text::{self, ZERO_WIDTH_SPACE};

/// Returns the text to type for a message, and the text that the transcript records.
pub(super) fn typing(message: &str) -> Typing {
    let recorded_as = normalize(message);
    // The space at the end closes a completion list that the last word may have opened. After a
    // backslash, the space stops Enter from inserting a line break.
    let text = format!("{} ", escaped(&recorded_as));
    Typing { text, recorded_as }
}

/// Puts a zero-width space before a text that Gemini would run as a command or omit at a resume.
/// `/` begins a command and `!` a shell command. A resume omits texts that begin with `/` or `?`.
pub(super) fn escaped(text: &str) -> String {
    let text = text.trim();
    let guard = if text.starts_with(['/', '?', '!']) {
        ZERO_WIDTH_SPACE.to_string()
    } else {
        String::new()
    };
    guard + text
}

/// Puts a zero-width space before a text of the user that a resume would omit, or that would be
/// parsed as an addition.
pub(super) fn escaped_for_resume(text: &str) -> String {
    let begin = text.trim_start();
    let is_lost = begin.starts_with(['/', '?', ZERO_WIDTH_SPACE]) || messages::is_addition(begin);
    if is_lost { format!("{ZERO_WIDTH_SPACE}{text}") } else { text.to_owned() }
}

/// Removes the zero-width space before a text.
pub(super) fn unescaped(text: &str) -> &str {
    text.strip_prefix(ZERO_WIDTH_SPACE).unwrap_or(text)
}

/// Normalizes a text, so that a message equals its record in a transcript. Gemini removes
/// whitespace around the text, and control characters.
pub(super) fn normalize(text: &str) -> String {
    typed_text::normalize_with_tabs_as_spaces(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_texts_that_a_resume_omits_are_escaped() {
        let typed = |text: &str| typing(text).text;
        assert_eq!(typed("hello"), "hello ");
        for begin in ["/quit", "!ls", "?what"] {
            assert_eq!(typed(begin), format!("\u{200b}{begin} "));
            assert_eq!(typed(&format!("  {begin}")), format!("\u{200b}{begin} "));
        }
        for plain in ["#tag", "-x", "@file", "ünï 🎉", "a\nb"] {
            assert_eq!(typed(plain), format!("{plain} "));
        }
    }

    #[test]
    fn message_equals_its_recorded_form() {
        for (message, recorded) in [
            ("  lead and trail  ", "lead and trail"),
            ("crlf\r\nhere", "crlf\nhere"),
            ("/status", "\u{200b}/status"),
            ("?", "\u{200b}?"),
            ("bell\u{7}", "bell"),
        ] {
            assert_eq!(typing(message).recorded_as, normalize(recorded), "{message:?}");
        }
    }
}
