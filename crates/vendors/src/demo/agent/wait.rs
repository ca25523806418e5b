//! Waits for the first of several events: a key, a signal, output of a tool, or a deadline.
//!
//! `signal-hook` writes a byte to a socket when a signal arrives, and `poll` reports the socket.
//! tokio would add a runtime to each agent process, and a test starts up to fifty of them.

use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::low_level::pipe;

/// An event that ended the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DemoWake {
    /// SIGTERM, SIGINT or SIGHUP arrived.
    Stop,
    Resized,
    Input,
    /// The tool with this index has output, or has ended.
    Tool(usize),
    Deadline,
}

/// Sockets that become readable when a signal arrives.
#[derive(Debug)]
pub(super) struct SignalSockets {
    stop: UnixStream,
    resized: UnixStream,
}

impl SignalSockets {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self { stop: socket(&[SIGTERM, SIGINT, SIGHUP])?, resized: socket(&[SIGWINCH])? })
    }

    /// Waits for events, and returns them, signals first. Returns at most one tool, because
    /// handling its event may change the indexes of the other tools.
    pub(super) fn wait(
        &mut self,
        input: Option<BorrowedFd<'_>>,
        tools: &[BorrowedFd<'_>],
        deadline: Option<Instant>,
    ) -> io::Result<Vec<DemoWake>> {
        let mut wakes = vec![DemoWake::Stop, DemoWake::Resized];
        let mut watched = vec![self.stop.as_fd(), self.resized.as_fd()];
        if let Some(input) = input {
            wakes.push(DemoWake::Input);
            watched.push(input);
        }
        wakes.extend((0..tools.len()).map(DemoWake::Tool));
        watched.extend(tools);
        let mut ready: Vec<DemoWake> =
            poll_until(&watched, deadline)?.into_iter().map(|index| wakes[index]).collect();
        let mut tools_seen = 0;
        ready.retain(|wake| {
            tools_seen += usize::from(matches!(wake, DemoWake::Tool(_)));
            tools_seen < 2
        });
        if ready.contains(&DemoWake::Resized) {
            drain(&mut self.resized)?;
        }
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            ready.push(DemoWake::Deadline);
        }
        Ok(ready)
    }
}

fn socket(signals: &[i32]) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    for signal in signals {
        pipe::register(*signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

/// Reads all bytes that signals have written, so that several signals count once.
fn drain(socket: &mut UnixStream) -> io::Result<()> {
    let mut bytes = [0; 64];
    loop {
        match socket.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// Returns the indexes of the file descriptors that are ready. Empty if the deadline has passed or
/// a signal has interrupted the wait.
fn poll_until(watched: &[BorrowedFd<'_>], deadline: Option<Instant>) -> io::Result<Vec<usize>> {
    let mut polled: Vec<PollFd<'_>> =
        watched.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    let timeout = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match poll(&mut polled, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready = polled.iter().enumerate().filter(|(_, fd)| !fd.revents().is_empty());
    Ok(ready.map(|(index, _)| index).collect())
}

/// Sleeps for this time, also if signals arrive.
pub(super) fn sleep(time: Duration) -> io::Result<()> {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline {
        poll_until(&[], Some(deadline))?;
    }
    Ok(())
}
