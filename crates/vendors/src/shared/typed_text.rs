//! Text that is typed into a terminal, and the form in which a vendor records it.

/// A zero-width space. At the beginning of a text, it stops a program from treating the text as a
/// command. A space does not always help, because some programs remove spaces first.
pub(crate) const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// Normalizes line ends and removes control characters, which a terminal would not treat as text.
pub(crate) fn terminal_text(text: &str) -> String {
    printable(&with_line_feeds(text))
}

/// Normalizes a text, so that a typed message and its record compare equal. Removes whitespace
/// around the text, zero-width spaces before it, and control characters.
pub(crate) fn normalize(text: &str) -> String {
    let text = with_line_feeds(text);
    printable(text.trim().trim_start_matches(ZERO_WIDTH_SPACE)).trim().to_owned()
}

/// Like [`normalize`], for programs that record a tab as four spaces.
pub(crate) fn normalize_with_tabs_as_spaces(text: &str) -> String {
    normalize(&text.replace('\t', "    "))
}

fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
