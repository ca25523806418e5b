//! Waits for file descriptors and for changes in folders.

use std::os::fd::AsFd;
use std::path::Path;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::Timespec;
use segue_host::watch::Watcher;
use tokio::runtime::Builder;

use crate::expectation::unmet;
use crate::world::DEADLINE;

/// Waits until one of the descriptors can be read or is closed. Returns whether that happened
/// before the deadline. Signals do not end the wait.
pub(crate) fn readable(descriptors: &[&dyn AsFd], deadline: Instant) -> bool {
    let mut descriptors: Vec<PollFd<'_>> =
        descriptors.iter().map(|it| PollFd::from_borrowed_fd(it.as_fd(), PollFlags::IN)).collect();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let limit = Timespec::try_from(left).expect("a duration");
        match poll(&mut descriptors, Some(&limit)) {
            Err(Errno::INTR) => {}
            ready => return ready.expect("descriptors that can be polled") > 0,
        }
    }
}

/// Waits until `is_met` returns true. Calls it again after each change in these folders. `expected`
/// names the awaited state in the report of a timeout.
pub fn until(folders: &[&Path], expected: &str, is_met: impl Fn() -> bool) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut watcher = Watcher::new().expect("a watcher");
        folders.iter().for_each(|folder| watcher.add(folder).expect("watched"));
        while !is_met() {
            let change = tokio::time::timeout(DEADLINE, watcher.next()).await;
            let late = |_| unmet(expected, &format!("not within {} s", DEADLINE.as_secs()));
            change.unwrap_or_else(late).expect("a change");
        }
    });
}
