//! Keys, the mouse and pasted texts of the user's terminal.

use std::pin::Pin;

use crossterm::event::{Event, EventStream};
use futures_core::Stream as _;

use crate::update::UiMessage;

/// The input of the terminal. Closing it leaves the input to another reader.
pub(super) struct UserInput(Option<EventStream>);

impl UserInput {
    pub(super) fn open() -> Self {
        Self(Some(EventStream::new()))
    }

    /// Waits for input. `None` if the terminal is gone. The future may be dropped while it waits.
    pub(super) async fn next(&mut self) -> Option<UiMessage> {
        loop {
            let Some(stream) = &mut self.0 else { return std::future::pending().await };
            let event = std::future::poll_fn(|context| Pin::new(&mut *stream).poll_next(context));
            match event.await {
                Some(Ok(Event::Key(key))) => return Some(UiMessage::Key(key)),
                Some(Ok(Event::Mouse(event))) => return Some(UiMessage::Mouse(event)),
                Some(Ok(Event::Paste(text))) => return Some(UiMessage::Paste(text)),
                // The loop itself receives SIGWINCH.
                Some(Ok(Event::Resize(..) | Event::FocusGained | Event::FocusLost)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }

    /// Stops reading.
    pub(super) async fn close(&mut self) {
        self.0 = None;
        // The thread that reads for the stream ends when it is scheduled next.
        tokio::task::yield_now().await;
    }
}
