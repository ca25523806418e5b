//! Escapes messages so that `OpenCode` accepts them as text.

use segue_core::ports::Typing;

use crate::shared::typed_text::{ZERO_WIDTH_SPACE, terminal_text};

/// Messages that end the program.
const EXIT_WORDS: [&str; 3] = ["exit", "quit", ":q"];

pub(super) fn typing(message: &str) -> Typing {
    let recorded_as = normalize(message);
    // OpenCode would run such a message as a command or as a shell command.
    let prefix = recorded_as.starts_with(['/', '!']) || EXIT_WORDS.contains(&recorded_as.as_str());
    let prefix = if prefix { String::from(ZERO_WIDTH_SPACE) } else { String::new() };
    // An `@` in the last word opens a list of files, and Enter would select a file. A space closes
    // the list.
    let last_word = recorded_as.rsplit(char::is_whitespace).next().unwrap_or_default();
    let suffix = if last_word.contains('@') { " " } else { "" };
    let text = format!("{prefix}{recorded_as}{suffix}");
    Typing { text, recorded_as }
}

/// Normalizes a text, so that a message equals its record in the database.
pub(super) fn normalize(text: &str) -> String {
    terminal_text(text).replace(ZERO_WIDTH_SPACE, "").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_that_looks_like_a_command_is_escaped() {
        for (message, typed) in [
            ("hello", "hello"),
            ("/new", "\u{200b}/new"),
            ("!ls", "\u{200b}!ls"),
            (" exit\n", "\u{200b}exit"),
            ("exit now", "exit now"),
            ("look at @file", "look at @file "),
            ("@file, look", "@file, look"),
            ("a\r\n\tb\u{7}", "a\n\tb"),
        ] {
            let typing = typing(message);
            assert_eq!(typing.text, typed, "{message:?}");
            assert_eq!(normalize(&typing.text), typing.recorded_as, "{message:?}");
        }
    }
}
