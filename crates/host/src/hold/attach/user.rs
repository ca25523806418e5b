//! The terminal of the user who attaches.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::OFlags;
use rustix::termios::{isatty, tcgetwinsize};
use segue_core::{Error, Result};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::descriptor::watched;
use crate::hold::descriptors::{read_batch, write_some};
use crate::hold::terminal::Size;

/// A user's terminal: its input and its output.
#[derive(Debug)]
pub struct UserTerminal {
    input: OwnedFd,
    output: OwnedFd,
}

impl UserTerminal {
    /// Returns the terminal in which this process was started.
    pub fn of_this_process() -> Result<Self> {
        Self::new(&io::stdin(), &io::stdout())
    }

    /// Returns a terminal from its input and output.
    pub fn new(input: &impl AsFd, output: &impl AsFd) -> Result<Self> {
        if !isatty(input) || !isatty(output) {
            return Err(Error::usage("attaching needs a terminal")
                .hint("run it in a terminal, without redirected input or output"));
        }
        Ok(Self { input: reopen(input)?, output: reopen(output)? })
    }

    pub(super) fn open(self) -> Result<OpenUserTerminal> {
        let failed = |error| Error::unavailable("cannot use this terminal").caused_by(error);
        Ok(OpenUserTerminal {
            input: watched(self.input, Interest::READABLE).map_err(failed)?,
            output: watched(self.output, Interest::WRITABLE).map_err(failed)?,
        })
    }
}

/// Opens the terminal again. The new descriptor has its own flags, such as non-blocking mode. So the
/// shell's descriptors keep theirs, even if this process is killed.
fn reopen(terminal: &impl AsFd) -> Result<OwnedFd> {
    let number = terminal.as_fd().as_raw_fd();
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or_default();
    let open =
        |path: &str| OpenOptions::new().read(true).write(true).custom_flags(flags).open(path);
    let opened = open(&format!("/proc/self/fd/{number}")).or_else(|_| open("/dev/tty"));
    opened
        .map(OwnedFd::from)
        .map_err(|error| Error::unavailable("cannot use this terminal").caused_by(error))
}

/// A terminal that tasks can wait for.
#[derive(Debug)]
pub(super) struct OpenUserTerminal {
    input: AsyncFd<OwnedFd>,
    output: AsyncFd<OwnedFd>,
}

impl OpenUserTerminal {
    pub(super) fn size(&self) -> Size {
        match tcgetwinsize(self.output.get_ref()) {
            Ok(size) => Size { rows: size.ws_row, cols: size.ws_col }.clamped(),
            Err(_) => Size::DEFAULT,
        }
    }

    /// Returns copies of the input and output, for the code that restores the terminal.
    pub(super) fn descriptors(&self) -> Result<(OwnedFd, OwnedFd)> {
        let failed = |error| Error::internal("cannot copy a descriptor").caused_by(error);
        let input = self.input.get_ref().try_clone().map_err(failed)?;
        Ok((input, self.output.get_ref().try_clone().map_err(failed)?))
    }

    /// Waits for input. `None` if the terminal is gone.
    pub(super) async fn read(&self) -> Option<Vec<u8>> {
        let mut typed = vec![0; 4 << 10];
        let count = read_batch(&self.input, &mut typed).await.ok()?;
        typed.truncate(count);
        (count > 0).then_some(typed)
    }

    /// Waits until the terminal accepts output, and writes as much as possible.
    pub(super) async fn write(&self, bytes: &mut VecDeque<u8>) -> io::Result<()> {
        write_some(&self.output, bytes).await
    }
}
