//! One line on standard error that is redrawn in place and erased at the end.

use std::io::{self, IsTerminal as _, Write as _};

use segue_server::wiring::Size;
use unicode_width::UnicodeWidthChar as _;

use crate::context::Context;
use crate::render::plain::one_line;

const ERASE: &str = "\r\u{1b}[2K";

/// The progress line. It needs a terminal as standard error.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    is_drawn: bool,
}

impl ProgressLine {
    /// `None` if standard error is not a terminal, if `TERM` is missing or `dumb`, or with
    /// `--json`.
    pub(crate) fn new(context: &Context) -> Option<Self> {
        let terminal = context.local.environment().get("TERM").unwrap_or("dumb");
        let wanted = io::stderr().is_terminal() && terminal != "dumb" && !context.wants_json();
        wanted.then_some(Self { is_drawn: false })
    }

    /// Replaces the text of the line.
    pub(crate) fn draw(&mut self, text: &str) {
        let columns = Size::of_errors().map_or(80, |size| size.columns);
        // A text in the last column would move the cursor to the next row.
        Self::write(&cut(&one_line(text), columns.saturating_sub(1)));
        self.is_drawn = true;
    }

    /// Erases the line, if it is drawn.
    pub(crate) fn erase(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            Self::write("");
        }
    }

    fn write(text: &str) {
        let mut terminal = io::stderr().lock();
        // A progress line that cannot be written is no reason to fail.
        let _shown = terminal.write_all(format!("{ERASE}{text}").as_bytes());
        let _shown = terminal.flush();
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.erase();
    }
}

/// Returns the beginning of a text that fits into this many columns.
fn cut(text: &str, columns: usize) -> String {
    let mut used = 0;
    let fits = |character: &char| {
        used += character.width().unwrap_or(0);
        used <= columns
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wider_than_the_terminal_is_cut() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "abc");
        assert_eq!(cut("a\u{6f22}b", 2), "a");
        assert_eq!(cut("abc", 0), "");
    }
}
