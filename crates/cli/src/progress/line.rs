//! One line on standard error that is redrawn in place and erased at the end.

use std::io::{self, IsTerminal as _, Write as _};

use segue_server::wiring::Size;

use crate::context::Context;
use crate::render::plain::one_line;
use crate::render::table::beginning;

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
        Self::write(&beginning(&one_line(text), columns.saturating_sub(1)));
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
