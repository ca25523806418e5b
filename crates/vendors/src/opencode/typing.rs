//! How a message is typed so that it arrives as text, and how the database records it.

use segue_core::ports::Typing;

use crate::shared::typed_text::{ZERO_WIDTH_SPACE, terminal_text};

/// Words that end the program if the message contains nothing else.
const ENDS_IT: [&str; 3] = ["exit", "quit", ":q"];

pub(super) fn typing(message: &str) -> Typing {
    let recorded_as = normal(message);
    // OpenCode would run such a message as its own command or as a shell command.
    let guard = recorded_as.starts_with(['/', '!']) || ENDS_IT.contains(&recorded_as.as_str());
    let guard = if guard { String::from(ZERO_WIDTH_SPACE) } else { String::new() };
    // An `@` in the last word opens a list of files, from which Enter would choose. A space closes
    // the list.
    let last = recorded_as.rsplit(char::is_whitespace).next().unwrap_or_default();
    let close = if last.contains('@') { " " } else { "" };
    let text = format!("{guard}{recorded_as}{close}");
    Typing { text, recorded_as }
}

/// Normalizes a text, so that a message and its record in the database compare equal.
pub(super) fn normal(text: &str) -> String {
    terminal_text(text).replace(ZERO_WIDTH_SPACE, "").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_that_looks_like_a_command_is_typed_as_text() {
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
            assert_eq!(normal(&typing.text), typing.recorded_as, "{message:?}");
        }
    }
}
