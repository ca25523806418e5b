//! Quotes words for shell commands that the user can copy from a message.

use super::plain::one_line;

/// Returns a word with quotes, if a shell needs them to read it as one word. Control sequences are
/// removed, and line breaks become spaces.
pub(crate) fn word(text: &str) -> String {
    let text = one_line(text);
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_safe) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_if_a_shell_needs_it() {
        let table = [
            ("shop/coder", "shop/coder"),
            ("/src/my shop", "'/src/my shop'"),
            ("it's", r"'it'\''s'"),
            ("$(reboot)", "'$(reboot)'"),
            ("", "''"),
        ];
        for (given, expected) in table {
            assert_eq!(word(given), expected);
        }
    }
}
