//! Removes control sequences from text that other people or programs wrote.

pub(crate) use segue_core::rules::display::plain;

/// Returns the text on one line, without control sequences and control characters.
pub(crate) fn one_line(text: &str) -> String {
    if !text.contains(['\n', '\r', '\t']) {
        return plain(text);
    }
    let words: Vec<&str> = text.split(['\n', '\r', '\t']).filter(|part| !part.is_empty()).collect();
    plain(&words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_has_no_line_breaks() {
        assert_eq!(one_line("a\nb\r\nc\td\n"), "a b c d");
        assert_eq!(one_line("\u{1b}[1mbold\u{1b}[0m\nnext"), "bold next");
    }
}
