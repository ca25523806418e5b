//! One client's connection: a task that reads its frames, and a task that writes to it.

use std::rc::Rc;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinHandle;

use super::send_queue::{self, SendQueue};
use crate::hold::waiting::KEY_PAUSE;
use crate::hold::wire::{FrameDecoder, Received, kind};

/// After a pause of this length, the rest of a terminal's answer does not arrive any more.
const LONG_PAUSE: Duration = Duration::from_secs(1);

/// Identifies a connection.
pub(super) type ClientId = u64;

/// The messages of a connection's tasks to the holder.
#[derive(Debug)]
pub(super) enum ClientMessage {
    Received(ClientId, Received),
    /// No input arrived for a short time ([`KEY_PAUSE`]).
    Pause(ClientId),
    /// No input arrived for a long time ([`LONG_PAUSE`]).
    LongPause(ClientId),
    /// The queue of the client was sent completely.
    CaughtUp(ClientId),
    Gone(ClientId),
}

/// The tasks of a connection.
#[derive(Debug)]
pub(super) struct ClientConnection {
    pub(super) queue: Rc<SendQueue>,
    reader: JoinHandle<()>,
    writer: JoinHandle<()>,
}

impl ClientConnection {
    /// Starts the tasks of a client that has just connected.
    pub(super) fn open(id: ClientId, stream: UnixStream, messages: &Sender<ClientMessage>) -> Self {
        let (from, to) = stream.into_split();
        let queue = Rc::new(SendQueue::default());
        let sent = Rc::clone(&queue);
        let sender = messages.clone();
        let writer = tokio::task::spawn_local(async move {
            send_queue::write_out(&sent, to, async || {
                // Without a receiver, the holder is about to exit.
                let _sent = sender.send(ClientMessage::CaughtUp(id)).await;
            })
            .await;
        });
        let reader = tokio::task::spawn_local(read_in(id, from, messages.clone()));
        Self { queue, reader, writer }
    }

    /// Reads nothing more from the client, and waits at most `limit` until the queue is sent.
    pub(super) async fn finish(self, limit: Duration) {
        self.reader.abort();
        self.queue.close();
        // A client that does not read must not keep the holder alive.
        let _written = tokio::time::timeout(limit, self.writer).await;
    }

    /// Closes the connection after the queue is sent.
    pub(super) fn hang_up(&self) {
        self.reader.abort();
        self.queue.close();
    }
}

async fn read_in(id: ClientId, mut from: OwnedReadHalf, messages: Sender<ClientMessage>) {
    let mut decoder = FrameDecoder::default();
    let mut buffer = vec![0; 16 << 10];
    let mut pause = InputPause::Long;
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read,
            () = pause.next() => {
                let message = pause.advance(id);
                if messages.send(message).await.is_err() {
                    return;
                }
                continue;
            }
        };
        let Ok(count @ 1..) = read else { break };
        decoder.push(buffer.get(..count).unwrap_or_default());
        while let Some(received) = decoder.next() {
            if matches!(&received, Received::Frame(frame) if frame.kind == kind::INPUT) {
                pause = InputPause::None;
            }
            if messages.send(ClientMessage::Received(id, received)).await.is_err() {
                return;
            }
        }
    }
    // Without a receiver, the holder is about to exit.
    let _sent = messages.send(ClientMessage::Gone(id)).await;
}

/// The pause since the last input of the client.
#[derive(Clone, Copy)]
enum InputPause {
    /// Input has just arrived.
    None,
    /// A short pause was reported.
    Short,
    /// A long pause was reported, or there was no input yet.
    Long,
}

impl InputPause {
    /// Waits until the next pause is to be reported. Never returns after a long pause.
    async fn next(self) {
        match self {
            Self::None => tokio::time::sleep(KEY_PAUSE).await,
            Self::Short => tokio::time::sleep(LONG_PAUSE).await,
            Self::Long => std::future::pending().await,
        }
    }

    /// Returns the message about the pause that was waited for.
    fn advance(&mut self, id: ClientId) -> ClientMessage {
        match self {
            Self::None => {
                *self = Self::Short;
                ClientMessage::Pause(id)
            }
            Self::Short | Self::Long => {
                *self = Self::Long;
                ClientMessage::LongPause(id)
            }
        }
    }
}
