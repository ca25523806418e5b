//! How a message is typed so that it arrives as text, and as what it is recorded.

use segue_core::ports::Typing;

/// Something that is there and not seen. Pi takes spaces away before it looks for a command.
const UNSEEN: char = '\u{200b}';

/// Says how a message is typed. The space at its end closes the list of files that its last word may
/// have opened, and keeps Enter behind a backslash from beginning another line; Pi takes it away.
pub(super) fn typing(message: &str) -> Typing {
    let recorded_as = normal(message);
    let guard = recorded_as.starts_with(['/', '!']).then_some(UNSEEN);
    let text = guard.into_iter().chain(recorded_as.chars()).chain([' ']).collect();
    Typing { text, recorded_as }
}

/// Returns a message as a word of the command line: what begins with these would be a flag, a file
/// or a command.
pub(super) fn argument(message: &str) -> String {
    let special = message.starts_with(['-', '@', '/']);
    if special { format!(" {message}") } else { message.to_owned() }
}

/// Returns a message as it was before it became a word of the command line.
pub(super) fn given(text: &str) -> String {
    let before = text.strip_prefix(' ').filter(|message| argument(message) == text);
    before.unwrap_or(text).to_owned()
}

/// Returns what a recorded message was before anything kept it from being a command.
pub(super) fn meant(text: &str) -> String {
    match text.strip_prefix(UNSEEN) {
        Some(typed) => typed.to_owned(),
        None => given(text),
    }
}

/// Returns a text in the form in which what was typed and what was recorded are the same.
pub(super) fn normal(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
    let lines = lines.trim().trim_start_matches(UNSEEN);
    let typed = |c: &char| !c.is_control() || *c == '\n';
    lines.chars().filter(typed).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_a_command_is_typed_so_that_it_is_none() {
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
    fn tabs_line_ends_and_controls_are_recorded_as_pi_records_them() {
        let typed = typing("\ta\r\nb\x1b[201~\x07  ");
        assert_eq!(typed.recorded_as, "a\nb[201~");
        assert_eq!(normal("    a\nb[201~"), typed.recorded_as);
        assert_eq!(normal("a\tb"), "a    b");
    }

    #[test]
    fn spaces_that_were_given_stay() {
        assert_eq!(given(" a"), " a");
    }

    #[test]
    fn a_word_of_the_command_line_is_neither_a_flag_nor_a_file_nor_a_command() {
        for (message, word) in [("--help", " --help"), ("@x", " @x"), ("/new", " /new"), ("!", "!")]
        {
            assert_eq!(argument(message), word);
            assert_eq!(normal(word), message);
            assert_eq!(given(word), message);
        }
    }
}
