//! File descriptors that async tasks can wait for.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers an owned file descriptor, so that tasks can wait until it is ready.
#[expect(
    deprecated,
    reason = "its replacement is unsafe: some types can swap their descriptor; OwnedFd cannot"
)]
pub fn watched(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(descriptor, interest)
}
