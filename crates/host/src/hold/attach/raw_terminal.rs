//! Puts the user's terminal into raw mode for an agent, and restores it afterwards.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr, write};
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use segue_core::{Error, Result, failpoint};

/// Switches to the alternate screen, so that the user's own screen stays. Saves the title and the
/// keyboard flags.
const ENTER: &str = "\x1b[?1049h\x1b[22;0t\x1b[>0u\x1b[H\x1b[2J";
/// Resets all modes that the holder may have set. Begins with the end of an incomplete sequence.
const LEAVE: &str = "\x1b\\\x1b[?2026l\x1b[m\x1b]8;;\x1b\\\x1b(B\x1b)B\x0f\x1b[?6l\x1b[r\x1b[?7h\
    \x1b[?1l\x1b>\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?2004l\
    \x1b[?1004l\x1b[?2031l\x1b[>4m\x1b[<1u\x1b[0 q\x1b[?25h\x1b[23;0t\x1b[?1049l";
/// How long to wait for a terminal that accepts no output.
const WRITE_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

/// The user's terminal while it shows an agent. Dropping this restores the terminal.
#[derive(Debug)]
pub(super) struct RawTerminal {
    input: OwnedFd,
    output: OwnedFd,
    before: Termios,
}

impl RawTerminal {
    /// Makes the terminal pass on every typed byte, and switches to the alternate screen. The
    /// descriptors must be non-blocking.
    pub(super) fn enter(input: OwnedFd, output: OwnedFd) -> Result<Self> {
        let failed = |error| Error::unavailable("cannot use this terminal").caused_by(error);
        let before = tcgetattr(&input).map_err(failed)?;
        let mut raw = before.clone();
        raw.make_raw();
        failpoint::hit("attach.enter.before");
        tcsetattr(&input, OptionalActions::Now, &raw).map_err(failed)?;
        let guard = Self { input, output, before };
        guard.write(ENTER);
        failpoint::hit("attach.enter.after");
        Ok(guard)
    }

    /// Writes text, as long as the terminal accepts it.
    fn write(&self, text: &str) {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            match write(&self.output, rest) {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if self.has_room() => {}
                // The terminal is gone or stuck, so nothing more can be written.
                Err(_) => return,
            }
        }
    }

    fn has_room(&self) -> bool {
        let mut waiting = [PollFd::new(&self.output, PollFlags::OUT)];
        let ready = retry_on_intr(|| poll(&mut waiting, Some(&WRITE_TIMEOUT)));
        ready.is_ok_and(|count| count > 0)
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        failpoint::hit("attach.leave.before");
        self.write(LEAVE);
        // Discard pending mouse reports and answers, which are not meant for the shell. Both calls
        // fail if the terminal is gone.
        let _flushed = tcflush(&self.input, QueueSelector::IFlush);
        let _restored = tcsetattr(&self.input, OptionalActions::Now, &self.before);
        failpoint::hit("attach.leave.after");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hold::terminal::{Effects, Size, VirtualTerminal};

    const SIZE: Size = Size { rows: 5, cols: 20 };

    #[test]
    fn terminal_is_restored_whatever_the_agent_did() {
        let mut users = VirtualTerminal::new(SIZE);
        let mut feed = |bytes: &[u8]| {
            users.feed(bytes, &mut Effects::unseen());
            users.snapshot()
        };
        let before = feed(b"\x1b]2;shell\x07\x1b[>5u$ segue attach");
        feed(ENTER.as_bytes());
        let mut agents = VirtualTerminal::new(SIZE);
        let everything = b"\x1b[?1049h\x1b[?1003;1006;1004;2004;2026;2031;1h\x1b[?25;7l\x1b[>7u\
            \x1b[>4;2m\x1b[3 q\x1b=\x1b]2;agent\x07\x1b[2;3r\x1b[?6h\x1b(0red\x1b[31m";
        agents.feed(everything, &mut Effects::unseen());
        let during = feed(&agents.paint());
        assert_eq!((during.title.as_str(), during.keyboard), ("agent", 7));
        // The last sequence that was sent may be incomplete.
        feed(b"\x1b]2;to");
        assert_eq!(feed(LEAVE.as_bytes()), before);
        assert_eq!(feed(b"x").rows[0], "$ segue attachx", "the cursor was not restored");
    }
}
