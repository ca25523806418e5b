//! The agent's terminal: raw mode, size and input.

use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd as _, BorrowedFd};

use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use super::DemoRefusal;

/// The terminal, in raw mode while this value exists.
#[derive(Debug)]
pub(super) struct DemoTerminal {
    input: io::Stdin,
    saved_mode: Termios,
}

impl DemoTerminal {
    pub(super) fn open() -> Result<Self, DemoRefusal> {
        let input = io::stdin();
        if !input.is_terminal() || !io::stdout().is_terminal() {
            return Err(DemoRefusal::new(
                1,
                "the demo agent needs a terminal; use `--print PROMPT` without one",
            ));
        }
        let saved_mode = tcgetattr(&input).map_err(io::Error::from)?;
        let mut raw = saved_mode.clone();
        raw.make_raw();
        tcsetattr(&input, OptionalActions::Now, &raw).map_err(io::Error::from)?;
        Ok(Self { input, saved_mode })
    }

    pub(super) fn input(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    /// Returns columns and rows: 80 and 24 if the terminal reports no size.
    pub(super) fn size(&self) -> (usize, usize) {
        match tcgetwinsize(&self.input) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                (size.ws_col.into(), size.ws_row.into())
            }
            _ => (80, 24),
        }
    }

    /// Reads the available input. Empty if the terminal was closed.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; 4096];
        match rustix::io::read(&self.input, &mut bytes) {
            Ok(length) => {
                bytes.truncate(length);
                Ok(bytes)
            }
            Err(Errno::IO) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for DemoTerminal {
    fn drop(&mut self) {
        // If the terminal was closed, its mode does not matter.
        let _gone = tcsetattr(&self.input, OptionalActions::Now, &self.saved_mode);
    }
}
