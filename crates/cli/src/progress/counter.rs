//! A progress line for work that blocks this thread. It is redrawn at most once a second.

use std::time::{Duration, Instant};

use super::line::ProgressLine;
use super::{REDRAW_INTERVAL, text};
use crate::context::Context;

/// Shows on the terminal how much of the work is done.
#[derive(Debug)]
pub(crate) struct Counter {
    line: Option<ProgressLine>,
    began: Instant,
    drawn: Duration,
}

impl Counter {
    pub(crate) fn new(context: &Context) -> Self {
        Self { line: ProgressLine::new(context), began: Instant::now(), drawn: Duration::ZERO }
    }

    /// Makes a counter that shows nothing, for an answer that is itself written to the terminal.
    pub(crate) fn silent() -> Self {
        Self { line: None, began: Instant::now(), drawn: Duration::ZERO }
    }

    /// Redraws the line, unless it was drawn, or the work began, within the last second.
    pub(crate) fn show(&mut self, doing: impl FnOnce() -> String) {
        let Some(line) = &mut self.line else { return };
        let elapsed = self.began.elapsed();
        if elapsed >= self.drawn + REDRAW_INTERVAL {
            self.drawn = elapsed;
            line.draw(&text(&doing(), "", elapsed));
        }
    }

    /// Erases the line, so that other output can be written.
    pub(crate) fn erase(&mut self) {
        if let Some(line) = &mut self.line {
            line.erase();
        }
    }
}
