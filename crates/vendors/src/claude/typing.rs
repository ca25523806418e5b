//! Prepares a message so that Claude Code accepts it as text, and predicts how the transcript
//! records it.

use segue_core::ports::Typing;
use unicode_normalization::UnicodeNormalization as _;

use super::records::as_typed;
use crate::shared::typed_text::{ZERO_WIDTH_SPACE, terminal_text};

/// Messages that end the program, even with spaces around them.
const EXIT_WORDS: [&str; 6] = ["exit", "quit", ":q", ":q!", ":wq", ":wq!"];

/// Extensions of image files. Claude Code replaces a line that ends with the path of such a file by
/// the image.
const IMAGE_EXTENSIONS: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];

pub(super) fn typing(message: &str) -> Typing {
    let lines: Vec<String> = terminal_text(message).split('\n').map(escape_image_path).collect();
    let mut text = lines.join("\n");
    if EXIT_WORDS.contains(&text.trim()) {
        text.insert(0, ZERO_WIDTH_SPACE);
    }
    if text.starts_with(['/', '!']) {
        // Only a text that begins with `/` or `!` is a command, so a space before it is enough.
        text.insert(0, ' ');
    }
    if text.ends_with('\\') {
        // Enter after a backslash would begin a new line. The transcript does not record the added
        // space.
        text.push(' ');
    }
    Typing { text, recorded_as: normalize(&as_typed(message.to_owned())) }
}

/// Appends a zero-width space to a line that ends with the path of an image, so that it stays text.
fn escape_image_path(line: &str) -> String {
    let lower = line.trim_end().to_ascii_lowercase();
    let names_image =
        line.contains('/') && IMAGE_EXTENSIONS.iter().any(|ending| lower.ends_with(ending));
    if names_image { format!("{}{ZERO_WIDTH_SPACE}", line.trim_end()) } else { line.to_owned() }
}

/// Normalizes a text, so that a typed message and its record in the transcript are equal.
pub(super) fn normalize(text: &str) -> String {
    let normalized: String = terminal_text(text).nfc().filter(|c| *c != ZERO_WIDTH_SPACE).collect();
    normalized.replace('\t', "    ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_exit_words_and_image_paths_are_typed_as_text() {
        let table = [
            ("hello", "hello"),
            ("/cost", " /cost"),
            ("!ls", " !ls"),
            ("# note", "# note"),
            ("? what", "? what"),
            ("- item", "- item"),
            ("--flag", "--flag"),
            ("@file look", "@file look"),
            (" exit ", "\u{200b} exit "),
            (":wq!", "\u{200b}:wq!"),
            ("exit now", "exit now"),
            ("a line \\", "a line \\ "),
            ("/tmp/a.PNG", " /tmp/a.PNG\u{200b}"),
            ("look at\n/tmp/a.png\nplease", "look at\n/tmp/a.png\u{200b}\nplease"),
            ("look at /tmp/a.png please", "look at /tmp/a.png please"),
        ];
        for (message, typed) in table {
            assert_eq!(typing(message).text, typed, "{message}");
            assert_eq!(normalize(&typing(message).text), typing(message).recorded_as, "{message}");
        }
    }

    #[test]
    fn tabs_line_endings_controls_and_combining_marks_are_recorded_normalized() {
        let typed = typing("\ta\r\nb\x1b[201~\x07 e\u{301}  ");
        assert_eq!(typed.text, "\ta\nb[201~ e\u{301}  ");
        assert_eq!(typed.recorded_as, "a\nb[201~ \u{e9}");
        assert_eq!(normalize("    a\nb[201~ \u{e9}"), typed.recorded_as);
    }
}
