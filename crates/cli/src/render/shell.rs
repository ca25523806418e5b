//! Words in commands that can be pasted.

use super::plain::one_line;

/// Returns a word as a shell reads it back.
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
    fn only_what_needs_quotes_gets_them() {
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
