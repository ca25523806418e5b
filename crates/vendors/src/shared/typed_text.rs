//! Text that is typed into a terminal, and the form in which a vendor records it.

/// A zero-width space. At the beginning of a text, it stops a program from treating the text as a
/// command. A space does not always help, because some programs remove spaces first.
pub(crate) const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// Normalizes line ends and removes control characters, which a terminal would not take as text.
pub(crate) fn terminal_text(text: &str) -> String {
    printable(&with_line_feeds(text))
}

/// Normalizes a text, so that a typed message and its record are equal: without whitespace around
/// it, without zero-width spaces before it and without control characters.
pub(crate) fn normalized(text: &str) -> String {
    let lines = with_line_feeds(text);
    printable(lines.trim().trim_start_matches(ZERO_WIDTH_SPACE)).trim().to_owned()
}

/// Like [`normalized`], for programs that record a tab as four spaces.
pub(crate) fn normalized_without_tabs(text: &str) -> String {
    normalized(&text.replace('\t', "    "))
}

fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
