//! Progress of work that is done on this thread: how much of it is done, once a second.

use std::time::{Duration, Instant};

use super::line::Line;
use super::{PATIENCE, text};
use crate::context::Context;

/// Counts for a person at a terminal.
#[derive(Debug)]
pub(crate) struct Counter {
    line: Option<Line>,
    began: Instant,
    drawn: Duration,
}

impl Counter {
    pub(crate) fn new(context: &Context) -> Self {
        Self { line: Line::new(context), began: Instant::now(), drawn: Duration::ZERO }
    }

    /// Makes one that shows nothing: the answer itself is on the terminal.
    pub(crate) fn silent() -> Self {
        Self { line: None, began: Instant::now(), drawn: Duration::ZERO }
    }

    /// Shows how far the work is, unless that was shown within the last second.
    pub(crate) fn show(&mut self, doing: impl FnOnce() -> String) {
        let Some(line) = &mut self.line else { return };
        let elapsed = self.began.elapsed();
        if elapsed >= self.drawn + PATIENCE {
            self.drawn = elapsed;
            line.draw(&text(&doing(), "", elapsed));
        }
    }

    /// Takes the line away, so that something else can be written.
    pub(crate) fn erase(&mut self) {
        if let Some(line) = &mut self.line {
            line.erase();
        }
    }
}
