//! Non-blocking reads and writes of file descriptors.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{read, retry_on_intr, write};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::descriptor::watched;

/// Makes a descriptor non-blocking, and registers it so that tasks can wait for it.
pub(super) fn unblocked(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    let flags = fcntl_getfl(&descriptor)?;
    fcntl_setfl(&descriptor, flags | OFlags::NONBLOCK)?;
    watched(descriptor, interest)
}

/// Waits for bytes and reads all that are available, at most the size of the buffer. Returns 0 at
/// EOF. Dropping the future loses no bytes.
pub(super) async fn read_batch(from: &AsyncFd<OwnedFd>, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        let mut ready = from.readable().await?;
        let mut filled = 0;
        loop {
            let rest = buffer.get_mut(filled..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(filled);
            }
            match ready.try_io(|from| Ok(read(from.get_ref(), rest)?)) {
                Ok(Ok(0)) => return Ok(filled),
                Ok(Ok(count)) => filled += count,
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                // Return the bytes that were read before. The next read returns the error again.
                Ok(Err(error)) if filled == 0 => return Err(error),
                Ok(Err(_)) => return Ok(filled),
                Err(_nothing_more) => break,
            }
        }
        if filled > 0 {
            return Ok(filled);
        }
    }
}

/// Reads the bytes that are available, without waiting.
pub(super) fn read_now(from: &AsyncFd<OwnedFd>, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(retry_on_intr(|| read(from.get_ref(), &mut *buffer))?)
}

/// Waits until bytes can be written, and writes as many as possible.
pub(super) async fn write_some(to: &AsyncFd<OwnedFd>, bytes: &mut VecDeque<u8>) -> io::Result<()> {
    let mut ready = to.writable().await?;
    while !bytes.is_empty() {
        let (first, _) = bytes.as_slices();
        match ready.try_io(|to| Ok(write(to.get_ref(), first)?)) {
            Ok(Ok(count)) => drop(bytes.drain(..count)),
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(Err(error)) => return Err(error),
            Err(_no_room) => break,
        }
    }
    Ok(())
}
