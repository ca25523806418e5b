//! Waiting for whatever comes first: a key, a signal, the end of a tool, a moment in time.
//!
//! `signal-hook` writes a byte into a socket when a signal arrives, which `poll` then sees. That is
//! one small crate without a runtime; tokio would bring a driver and its buffers into a process of
//! which there can be fifty.

use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::low_level::pipe;

/// What ended the waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    /// Somebody wants the agent to go.
    Stop,
    Resized,
    Input,
    /// The tool with this number has something to say, or has ended.
    Tool(usize),
    Deadline,
}

/// Signals as something that can be waited for.
#[derive(Debug)]
pub(super) struct Signals {
    stop: UnixStream,
    resized: UnixStream,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self { stop: socket(&[SIGTERM, SIGINT, SIGHUP])?, resized: socket(&[SIGWINCH])? })
    }

    /// Waits; returns what is ready, the most urgent first, and of the tools only the first: what
    /// it leads to may change the numbers of the others.
    pub(super) fn wait(
        &mut self,
        input: Option<BorrowedFd<'_>>,
        tools: &[BorrowedFd<'_>],
        deadline: Option<Instant>,
    ) -> io::Result<Vec<Wake>> {
        let mut names = vec![Wake::Stop, Wake::Resized];
        let mut watched = vec![self.stop.as_fd(), self.resized.as_fd()];
        if let Some(input) = input {
            names.push(Wake::Input);
            watched.push(input);
        }
        names.extend((0..tools.len()).map(Wake::Tool));
        watched.extend(tools);
        let mut ready: Vec<Wake> =
            poll_until(&watched, deadline)?.into_iter().map(|index| names[index]).collect();
        let mut tools_seen = 0;
        ready.retain(|wake| {
            tools_seen += usize::from(matches!(wake, Wake::Tool(_)));
            tools_seen < 2
        });
        if ready.contains(&Wake::Resized) {
            drain(&mut self.resized)?;
        }
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            ready.push(Wake::Deadline);
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

/// Takes out what many signals left, so that they count once.
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

/// Returns the numbers of those that are ready; none when the time came or a signal did.
fn poll_until(watched: &[BorrowedFd<'_>], deadline: Option<Instant>) -> io::Result<Vec<usize>> {
    let mut polled: Vec<PollFd<'_>> =
        watched.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    match poll(&mut polled, left.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready = polled.iter().enumerate().filter(|(_, fd)| !fd.revents().is_empty());
    Ok(ready.map(|(index, _)| index).collect())
}

/// Lets time pass.
pub(super) fn pass(time: Duration) -> io::Result<()> {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline {
        poll_until(&[], Some(deadline))?;
    }
    Ok(())
}
