//! The queue of output and messages to one client. The agent never waits for a client.

use std::cell::RefCell;

use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::Notify;

use crate::hold::terminal::Size;
use crate::hold::wire::{Painted, encode, encode_message, kind};

/// The maximum size of queued output. If it is exceeded, the output is dropped and the screen is
/// repainted later.
const MAX_OUTPUT_BYTES: usize = 512 << 10;
/// The maximum size of queued answers and events. A client that exceeds it does not read.
const MAX_MESSAGE_BYTES: usize = 8 << 20;
/// Output is split into frames of this size.
const OUTPUT_FRAME_BYTES: usize = 32 << 10;

/// The queue between the holder and the task that writes to a client.
#[derive(Debug, Default)]
pub(super) struct SendQueue {
    frames: RefCell<QueuedFrames>,
    changed: Notify,
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "three facts that are independent of each other")]
struct QueuedFrames {
    /// Complete frames of output.
    output: Vec<u8>,
    /// Complete frames of answers and events. They are sent after the output that they may refer
    /// to.
    messages: Vec<u8>,
    is_closed: bool,
    /// Whether output was dropped since the task last had nothing to write. Then the holder must be
    /// notified that the client has caught up, even if nothing is left to write.
    has_dropped: bool,
    /// Whether the task is writing frames that it has taken out of the queue.
    is_writing: bool,
}

/// Whether the queue accepted the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enqueued {
    Yes,
    /// The queue was full. If output did not fit, all queued output was dropped.
    Overflowed,
}

impl SendQueue {
    /// Queues output, split into frames that the client can read one at a time.
    pub(super) fn output(&self, bytes: &[u8]) -> Enqueued {
        self.output_after(&[], bytes)
    }

    /// Queues a repaint of a screen of this size.
    pub(super) fn painted(&self, size: Size, bytes: &[u8]) -> Enqueued {
        let beginning = Painted { size, bytes: bytes.len() };
        self.output_after(&encode_message(kind::PAINTED, &beginning), bytes)
    }

    fn output_after(&self, beginning: &[u8], bytes: &[u8]) -> Enqueued {
        let mut queue = self.frames.borrow_mut();
        if queue.output.len() + beginning.len() + bytes.len() > MAX_OUTPUT_BYTES {
            queue.output = Vec::new();
            queue.has_dropped = true;
            drop(queue);
            self.changed.notify_one();
            return Enqueued::Overflowed;
        }
        queue.output.extend_from_slice(beginning);
        for piece in bytes.chunks(OUTPUT_FRAME_BYTES) {
            encode(kind::OUTPUT, piece, &mut queue.output);
        }
        drop(queue);
        self.changed.notify_one();
        Enqueued::Yes
    }

    /// Queues a frame that must not be lost. If the queue is full, the caller disconnects the
    /// client.
    pub(super) fn message(&self, frame: &[u8]) -> Enqueued {
        let mut queue = self.frames.borrow_mut();
        if queue.messages.len() + frame.len() > MAX_MESSAGE_BYTES {
            return Enqueued::Overflowed;
        }
        queue.messages.extend_from_slice(frame);
        drop(queue);
        self.changed.notify_one();
        Enqueued::Yes
    }

    /// Closes the queue. The task ends after it has written the queued frames.
    pub(super) fn close(&self) {
        self.frames.borrow_mut().is_closed = true;
        self.changed.notify_one();
    }

    /// Returns whether all queued frames are written.
    pub(super) fn is_idle(&self) -> bool {
        let queue = self.frames.borrow();
        !queue.is_writing && queue.output.is_empty() && queue.messages.is_empty()
    }

    /// Waits for frames and takes all of them. `None` if the queue is closed and empty. Takes nothing
    /// if all of them were dropped.
    async fn take(&self) -> Option<Vec<u8>> {
        loop {
            {
                let mut queue = self.frames.borrow_mut();
                let mut taken = std::mem::take(&mut queue.output);
                taken.append(&mut queue.messages);
                queue.is_writing = !taken.is_empty();
                let has_dropped = std::mem::take(&mut queue.has_dropped);
                if !taken.is_empty() || has_dropped {
                    return Some(taken);
                }
                if queue.is_closed {
                    return None;
                }
            }
            self.changed.notified().await;
        }
    }

    /// Returns whether nothing was queued during the last write.
    fn has_caught_up(&self) -> bool {
        let mut queue = self.frames.borrow_mut();
        queue.is_writing = false;
        queue.output.is_empty() && queue.messages.is_empty()
    }
}

/// Writes the queued frames until the queue is closed or the client is gone. Calls `caught_up` each
/// time when the queue is empty after a write.
pub(super) async fn write_out(
    queue: &SendQueue,
    mut to: OwnedWriteHalf,
    caught_up: impl AsyncFn(),
) {
    while let Some(bytes) = queue.take().await {
        if to.write_all(&bytes).await.is_err() {
            return;
        }
        if queue.has_caught_up() {
            caught_up().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use tokio::net::UnixStream;

    use super::*;

    /// If the writer is not scheduled before the queue overflows, it finds an empty queue.
    #[tokio::test]
    async fn holder_learns_that_the_client_has_caught_up_after_all_output_was_dropped() {
        let queue = SendQueue::default();
        let half = vec![b'x'; MAX_OUTPUT_BYTES / 2 + 1];
        assert_eq!(queue.output(&half), Enqueued::Yes);
        assert_eq!(queue.output(&half), Enqueued::Overflowed);
        let (client, own) = UnixStream::pair().unwrap();
        let (_, to) = own.into_split();
        let caught_up = Cell::new(false);
        let write = write_out(&queue, to, async || {
            caught_up.set(true);
            queue.close();
        });
        tokio::time::timeout(Duration::from_secs(60), write).await.unwrap();
        assert!(caught_up.get());
        drop(client);
    }
}
