//! Quoting for shells.

use std::path::Path;

/// Quotes a path, so that a shell reads it as one word.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_escapes_a_single_quote_in_a_path() {
        assert_eq!(quoted(Path::new("/it's")), r"'/it'\''s'");
        assert_eq!(quoted(Path::new("/plain-1.x")), "/plain-1.x");
    }
}
