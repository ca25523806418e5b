//! Prepares a message so that Gemini accepts it as text, and keeps it at a resume.

use segue_core::ports::Typing;

use super::records;
use crate::shared::typed_text::{self, ZERO_WIDTH_SPACE};

/// Returns how a message is typed, and how the transcript records it.
pub(super) fn typing(message: &str) -> Typing {
    let recorded_as = normal(message);
    // The space at the end closes the list of files that the last word may have opened. After a
    // backslash, it stops Enter from beginning a new line.
    let text = format!("{} ", guarded(&recorded_as));
    Typing { text, recorded_as }
}

/// Puts a zero-width space before a text that Gemini would not accept as text. `/` begins a command
/// and `!` a shell command. A text that begins with `/` or `?` is lost at the next resume.
pub(super) fn guarded(text: &str) -> String {
    let text = text.trim();
    let guard = if text.starts_with(['/', '?', '!']) {
        ZERO_WIDTH_SPACE.to_string()
    } else {
        String::new()
    };
    guard + text
}

/// Puts a zero-width space before a text of a user that would be lost at a resume, or that looks
/// like an addition.
pub(super) fn guarded_for_resume(text: &str) -> String {
    let begin = text.trim_start();
    let is_lost = begin.starts_with(['/', '?', ZERO_WIDTH_SPACE]) || records::is_addition(begin);
    if is_lost { format!("{ZERO_WIDTH_SPACE}{text}") } else { text.to_owned() }
}

/// Returns a text without the zero-width space before it.
pub(super) fn without_guard(text: &str) -> &str {
    text.strip_prefix(ZERO_WIDTH_SPACE).unwrap_or(text)
}

/// Normalizes a text, so that a message and its record in a transcript are equal. Gemini removes
/// whitespace around the text, and characters that no keyboard can type.
pub(super) fn normal(text: &str) -> String {
    typed_text::normalize_with_tabs_as_spaces(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_texts_that_a_resume_loses_are_typed_as_text() {
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
            assert_eq!(typing(message).recorded_as, normal(recorded), "{message:?}");
        }
    }
}
