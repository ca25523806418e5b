//! How a message is typed so that it arrives as the text it is.

use segue_core::ports::Typing;

/// Words that end the program when they are all that is typed.
const ENDS_IT: [&str; 3] = ["exit", "quit", ":q"];

/// Seen by nobody; what has it in front is not the word that it would be.
pub(super) const INVISIBLE: char = '\u{200b}';

pub(super) fn typing(message: &str) -> Typing {
    let recorded_as = normal(message);
    // What begins with these is a command of OpenCode or of the shell.
    let guard = recorded_as.starts_with(['/', '!']) || ENDS_IT.contains(&recorded_as.as_str());
    let guard = if guard { String::from(INVISIBLE) } else { String::new() };
    // The list of files that the last word has opened is closed by a space: Enter would choose from it.
    let last = recorded_as.rsplit(char::is_whitespace).next().unwrap_or_default();
    let close = if last.contains('@') { " " } else { "" };
    let text = format!("{guard}{recorded_as}{close}");
    Typing { text, recorded_as }
}

/// Returns a text as both a message and what became of it in the database are compared.
pub(super) fn normal(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    let typed = |c: &char| (!c.is_control() || matches!(c, '\n' | '\t')) && *c != INVISIBLE;
    lines.chars().filter(typed).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_a_command_is_typed_as_text() {
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
