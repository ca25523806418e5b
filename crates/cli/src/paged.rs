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
    target: PageTarget,
}

#[derive(Debug)]
enum PageTarget {
    Direct,
    /// The text is buffered, because it may still fit on the screen.
    Buffered {
        text: String,
        rows: usize,
        size: Size,
    },
    Pager(Pager),
    /// The user has quit the pager. Further text is dropped.
    Quit(Pager),
}

impl<'a> Paged<'a> {
    /// Makes a writer for a terminal of this size. With `None` no pager is used.
    pub(crate) fn new(
        output: &'a mut Output,
        environment: &'a Environment,
        size: Option<Size>,
    ) -> Self {
        let target = match size {
            Some(size) => PageTarget::Buffered { text: String::new(), rows: 0, size },
            None => PageTarget::Direct,
        };
        Self { output, environment, target }
    }

    /// Writes text that is safe for a terminal. Returns `Break` if the user has quit the pager or
    /// the reader has closed standard output.
    pub(crate) fn text(&mut self, text: &str) -> Result<ControlFlow<()>> {
        match &mut self.target {
            PageTarget::Direct => self.output.text(text)?,
            PageTarget::Buffered { text: buffered, rows, size } => {
                buffered.push_str(text);
                *rows += rows_of(text, size.columns);
                // The last row stays free for the prompt of the shell.
                if *rows >= size.rows {
                    return self.start_pager();
                }
            }
            PageTarget::Pager(_) => self.write_to_pager(text)?,
            PageTarget::Quit(_) => {}
        }
        Ok(self.next())
    }

    /// Writes bytes to standard output unchanged and without a pager. Only for an output that is
    /// not a terminal.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<ControlFlow<()>> {
        self.output.bytes(bytes)?;
        Ok(self.next())
    }

    fn next(&self) -> ControlFlow<()> {
        let is_over = self.output.is_reader_gone() || matches!(self.target, PageTarget::Quit(_));
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Writes the text that is still buffered. If there is a pager, waits until the user has quit
    /// it.
    pub(crate) fn finish(self) -> Result<()> {
        match self.target {
            PageTarget::Direct => Ok(()),
            PageTarget::Buffered { text, .. } => self.output.text(&text),
            PageTarget::Pager(pager) | PageTarget::Quit(pager) => pager.finish(),
        }
    }

    /// Starts the pager and gives it the buffered text. If there is no pager, the text goes
    /// directly to the terminal.
    fn start_pager(&mut self) -> Result<ControlFlow<()>> {
        let PageTarget::Buffered { text, .. } =
            std::mem::replace(&mut self.target, PageTarget::Direct)
        else {
            return Ok(ControlFlow::Continue(()));
        };
        if let Some(pager) = Pager::start(self.environment) {
            progress::leave_to_pager();
            self.target = PageTarget::Pager(pager);
        }
        self.text(&text)
    }

    fn write_to_pager(&mut self, text: &str) -> Result<()> {
        let PageTarget::Pager(pager) = &mut self.target else { return Ok(()) };
        match pager.write(text.as_bytes()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                if let PageTarget::Pager(pager) =
                    std::mem::replace(&mut self.target, PageTarget::Direct)
                {
                    self.target = PageTarget::Quit(pager);
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
