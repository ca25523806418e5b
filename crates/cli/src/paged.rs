//! Sends a long answer through a pager, if standard output is a terminal and the answer does not
//! fit on its screen.

use std::io::ErrorKind;
use std::ops::ControlFlow;

use segue_core::model::Environment;
use segue_core::{Error, Result};
use segue_server::wiring::{Pager, Size};

use crate::output::Output;
use crate::progress;

/// Writes text to standard output, or to a pager as soon as it is longer than the screen.
#[derive(Debug)]
pub(crate) struct Paged<'a> {
    output: &'a mut Output,
    environment: &'a Environment,
    way: PageTarget,
}

#[derive(Debug)]
enum PageTarget {
    Straight,
    /// The text is buffered, because it may still fit on the screen.
    Held {
        text: String,
        rows: usize,
        size: Size,
    },
    Pager(Pager),
    /// The user has quit the pager. Further text is dropped.
    Left(Pager),
}

impl<'a> Paged<'a> {
    /// Makes a writer for a terminal of this size. With `None` no pager is used.
    pub(crate) fn new(
        output: &'a mut Output,
        environment: &'a Environment,
        size: Option<Size>,
    ) -> Self {
        let way = match size {
            Some(size) => PageTarget::Held { text: String::new(), rows: 0, size },
            None => PageTarget::Straight,
        };
        Self { output, environment, way }
    }

    /// Writes text that is safe for a terminal. Returns `Break` if the user has quit the pager or
    /// the reader has closed standard output.
    pub(crate) fn text(&mut self, text: &str) -> Result<ControlFlow<()>> {
        match &mut self.way {
            PageTarget::Straight => self.output.text(text)?,
            PageTarget::Held { text: held, rows, size } => {
                held.push_str(text);
                *rows += rows_of(text, size.columns);
                // The last row stays free for the prompt of the shell.
                if *rows >= size.rows {
                    return self.begin();
                }
            }
            PageTarget::Pager(_) => self.give(text)?,
            PageTarget::Left(_) => {}
        }
        let gone = self.output.reader_gone() || matches!(self.way, PageTarget::Left(_));
        Ok(if gone { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Writes bytes to standard output unchanged and without a pager. Only for an output that is
    /// not a terminal.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<ControlFlow<()>> {
        self.output.bytes(bytes)?;
        let gone = self.output.reader_gone();
        Ok(if gone { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Writes the text that is still buffered. If there is a pager, waits until the user has quit
    /// it.
    pub(crate) fn finish(self) -> Result<()> {
        match self.way {
            PageTarget::Straight => Ok(()),
            PageTarget::Held { text, .. } => self.output.text(&text),
            PageTarget::Pager(pager) | PageTarget::Left(pager) => pager.finish(),
        }
    }

    /// Starts the pager and gives it the buffered text. If there is no pager, the text goes
    /// directly to the terminal.
    fn begin(&mut self) -> Result<ControlFlow<()>> {
        let PageTarget::Held { text, .. } = std::mem::replace(&mut self.way, PageTarget::Straight)
        else {
            return Ok(ControlFlow::Continue(()));
        };
        if let Some(pager) = Pager::start(self.environment) {
            progress::leave_to_pager();
            self.way = PageTarget::Pager(pager);
        }
        self.text(&text)
    }

    fn give(&mut self, text: &str) -> Result<()> {
        let PageTarget::Pager(pager) = &mut self.way else { return Ok(()) };
        match pager.write(text.as_bytes()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                if let PageTarget::Pager(pager) =
                    std::mem::replace(&mut self.way, PageTarget::Straight)
                {
                    self.way = PageTarget::Left(pager);
                }
                Ok(())
            }
            Err(error) => Err(Error::internal("cannot write to the pager").caused_by(error)),
        }
    }
}

/// Estimates how many rows of a terminal a text takes. The result can be too high, because the
/// characters of colour codes are counted, too.
fn rows_of(text: &str, columns: usize) -> usize {
    text.lines().map(|line| line.chars().count().saturating_sub(1) / columns.max(1) + 1).sum()
}
