//! What one client has yet to be sent. The agent never waits for a client.

use std::cell::RefCell;

use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::Notify;

use crate::hold::wire::{encode, kind};

/// Output beyond this is not worth waiting for: the screen is painted instead.
const MOST_OUTPUT: usize = 512 << 10;
/// Answers and events beyond this are for nobody who listens.
const MOST_MESSAGES: usize = 8 << 20;

/// The queue between the holder and the task that writes to a client.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queue: RefCell<Queue>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    /// Whole frames of output.
    output: Vec<u8>,
    /// Whole frames of everything else; they come after the output that they may be about.
    messages: Vec<u8>,
    closed: bool,
    /// Whether the task is writing what it took.
    busy: bool,
}

/// Whether the queue took what it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queued {
    Yes,
    /// It was full: all output in it is gone.
    Overflowed,
}

impl Outbox {
    /// Queues output, cut into frames that can be taken one at a time.
    pub(super) fn output(&self, bytes: &[u8]) -> Queued {
        const PIECE: usize = 32 << 10;
        let mut queue = self.queue.borrow_mut();
        if queue.output.len() + bytes.len() > MOST_OUTPUT {
            queue.output = Vec::new();
            return Queued::Overflowed;
        }
        for piece in bytes.chunks(PIECE) {
            encode(kind::OUTPUT, piece, &mut queue.output);
        }
        drop(queue);
        self.changed.notify_one();
        Queued::Yes
    }

    /// Queues a frame that must not be lost. A client that takes none for too long is cut off.
    pub(super) fn message(&self, frame: &[u8]) -> Queued {
        let mut queue = self.queue.borrow_mut();
        if queue.messages.len() + frame.len() > MOST_MESSAGES {
            return Queued::Overflowed;
        }
        queue.messages.extend_from_slice(frame);
        drop(queue);
        self.changed.notify_one();
        Queued::Yes
    }

    /// Says that nothing more will come.
    pub(super) fn close(&self) {
        self.queue.borrow_mut().closed = true;
        self.changed.notify_one();
    }

    /// Tells whether all that was queued is written.
    pub(super) fn is_idle(&self) -> bool {
        let queue = self.queue.borrow();
        !queue.busy && queue.output.is_empty() && queue.messages.is_empty()
    }

    /// Takes all that is queued; none when nothing more will come.
    async fn take(&self) -> Option<Vec<u8>> {
        loop {
            {
                let mut queue = self.queue.borrow_mut();
                let mut taken = std::mem::take(&mut queue.output);
                taken.append(&mut queue.messages);
                queue.busy = !taken.is_empty();
                if !taken.is_empty() {
                    return Some(taken);
                }
                if queue.closed {
                    return None;
                }
            }
            self.changed.notified().await;
        }
    }

    /// Tells whether nothing has come while the last was written.
    fn has_caught_up(&self) -> bool {
        let mut queue = self.queue.borrow_mut();
        queue.busy = false;
        queue.output.is_empty() && queue.messages.is_empty()
    }
}

/// Writes what is queued until nothing more comes or the client is gone; calls back whenever the
/// client has all of it.
pub(super) async fn write_out(outbox: &Outbox, mut to: OwnedWriteHalf, caught_up: impl AsyncFn()) {
    while let Some(bytes) = outbox.take().await {
        if to.write_all(&bytes).await.is_err() {
            return;
        }
        if outbox.has_caught_up() {
            caught_up().await;
        }
    }
}
