//! Descriptors that tasks can wait for.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Lets tasks wait until an owned descriptor is ready.
#[expect(
    deprecated,
    reason = "its successor is unsafe for types that may swap their descriptor; an owned one cannot"
)]
pub fn watched(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(descriptor, interest)
}
