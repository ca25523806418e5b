//! Waiting for descriptors, however many signals come meanwhile.

use std::os::fd::AsFd;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::Timespec;

/// Waits until one of them can be read or is closed; tells whether one was before the end.
pub(crate) fn readable(descriptors: &[&dyn AsFd], end: Instant) -> bool {
    let mut descriptors: Vec<PollFd<'_>> =
        descriptors.iter().map(|it| PollFd::from_borrowed_fd(it.as_fd(), PollFlags::IN)).collect();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let limit = Timespec::try_from(left).expect("a duration");
        match poll(&mut descriptors, Some(&limit)) {
            Err(Errno::INTR) => {}
            ready => return ready.expect("descriptors that can be waited for") > 0,
        }
    }
}
