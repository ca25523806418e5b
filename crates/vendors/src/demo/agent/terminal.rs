//! The terminal under the screen: raw mode, size, bytes.

use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd as _, BorrowedFd};

use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use super::DemoRefusal;

/// The terminal, in raw mode while this value exists.
#[derive(Debug)]
pub(super) struct DemoTerminal {
    input: io::Stdin,
    saved: Termios,
}

impl DemoTerminal {
    pub(super) fn take() -> Result<Self, DemoRefusal> {
        let input = io::stdin();
        if !input.is_terminal() || !io::stdout().is_terminal() {
            return Err(DemoRefusal::new(
                1,
                "this needs a terminal; `--print PROMPT` does without",
            ));
        }
        let saved = tcgetattr(&input).map_err(io::Error::from)?;
        let mut raw = saved.clone();
        raw.make_raw();
        tcsetattr(&input, OptionalActions::Now, &raw).map_err(io::Error::from)?;
        Ok(Self { input, saved })
    }

    pub(super) fn input(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    /// Returns columns and rows. A terminal that reports no size counts as 80 columns and 24 rows.
    pub(super) fn size(&self) -> (usize, usize) {
        match tcgetwinsize(&self.input) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                (size.ws_col.into(), size.ws_row.into())
            }
            _ => (80, 24),
        }
    }

    /// Reads what was typed. Empty if the terminal is gone.
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
        // If the terminal is gone, its mode does not matter.
        let _gone = tcsetattr(&self.input, OptionalActions::Now, &self.saved);
    }
}
