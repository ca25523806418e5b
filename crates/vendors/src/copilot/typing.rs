//! How a message is typed so that it arrives as text, and as what it is recorded.

use segue_core::ports::Typing;

/// Words that end the program when they are all that is typed.
const ENDS_IT: [&str; 3] = ["exit", "quit", "bye"];

/// Seen by nobody; what has it in front is not the command that it would be.
const INVISIBLE: char = '\u{200b}';

pub(super) fn typing(message: &str) -> Typing {
    let mut text = plain(&clean(message));
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    if text.ends_with('\\') || last.starts_with(['@', '#']) {
        // Enter would begin another line, or take what a list offers; a space at the end is not
        // recorded.
        text.push(' ');
    }
    Typing { text, recorded_as: normal(message) }
}

/// Returns a first message in the form in which it is no command.
pub(super) fn plain(message: &str) -> String {
    let begin = message.trim_start();
    let is_command = begin.starts_with(['/', '!']) || ENDS_IT.contains(&begin.trim_end());
    if is_command { format!("{INVISIBLE}{message}") } else { message.to_owned() }
}

/// Returns a text in the form in which what was typed and what was recorded are the same.
pub(super) fn normal(text: &str) -> String {
    let seen: String = clean(text).chars().filter(|c| *c != INVISIBLE).collect();
    seen.replace('\t', "    ").trim().to_owned()
}

/// Takes out what a terminal would not understand as text.
fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_a_command_is_typed_so_that_it_is_none() {
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
    fn line_ends_and_controls_are_recorded_as_the_vendor_records_them() {
        let typed = typing("a\r\nb\x1b[201~\x07  ");
        assert_eq!(typed.text, "a\nb[201~  ");
        assert_eq!(typed.recorded_as, "a\nb[201~");
    }
}
