//! Prepares a message so that Codex accepts it as text.

use segue_core::ports::Typing;

use crate::shared::typed_text::{self, ZERO_WIDTH_SPACE};

/// Maximum length of a paste that Codex shows as text. Codex shows a longer paste as a placeholder,
/// and treats it as if no text came before it.
const LONGEST_SHOWN_CHARACTERS: usize = 1000;

/// Returns how a message is typed, and how the rollout records it.
pub(super) fn typing(message: &str) -> Typing {
    let recorded_as = normalize(message);
    let escape_prefix = escape_prefix(&recorded_as);
    // The space at the end closes the list of files or skills that the last word may have opened.
    // Otherwise Enter would choose from that list.
    let text = format!("{escape_prefix}{recorded_as} ");
    Typing { text, recorded_as }
}

/// Returns the prefix that stops a text from being a command of Codex or of the shell.
fn escape_prefix(text: &str) -> String {
    match text.chars().next() {
        Some('!') => ZERO_WIDTH_SPACE.to_string(),
        Some('/') if text.chars().count() + 2 > LONGEST_SHOWN_CHARACTERS => {
            ZERO_WIDTH_SPACE.to_string()
        }
        Some('/') => " ".to_owned(),
        _ => String::new(),
    }
}

/// Normalizes a text, so that a message and its record in a rollout compare equal. Codex removes
/// whitespace around the text, and control characters.
pub(super) fn normalize(text: &str) -> String {
    typed_text::normalize(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_typed_as_text() {
        let typed = |text: &str| typing(text).text;
        assert_eq!(typed("hello"), "hello ");
        assert_eq!(typed("/quit"), " /quit ");
        assert_eq!(typed("!ls"), "\u{200b}!ls ");
        assert_eq!(typed("  !ls"), "\u{200b}!ls ");
        for plain in ["#tag", "?", "-x", "@file", "$skill", "a\tb\n\tc", "ünï 🎉"] {
            assert_eq!(typed(plain), format!("{plain} "));
        }
        let long = format!("/{}", "x".repeat(1500));
        assert!(typed(&long).starts_with("\u{200b}/x"));
    }

    #[test]
    fn message_equals_its_recorded_form() {
        for (message, recorded) in [
            ("  lead and trail  ", "lead and trail"),
            ("\n\nlines around\n\n", "lines around"),
            ("crlf\r\nhere", "crlf\nhere"),
            ("a\rb", "a\nb"),
            ("/status", "/status"),
            ("!ls", "\u{200b}!ls"),
            ("bell\u{7}", "bell"),
        ] {
            assert_eq!(typing(message).recorded_as, normalize(recorded), "{message:?}");
        }
    }
}
