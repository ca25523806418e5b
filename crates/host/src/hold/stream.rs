//! Streams of agents' terminals, over the sockets of their holders.

mod incoming;

use std::collections::VecDeque;
use std::path::PathBuf;

use async_trait::async_trait;
use segue_core::model::{LaunchId, TerminalSize};
use segue_core::ports::{
    ScrollbackRange, TerminalAccess, TerminalEvent, TerminalStream, Terminals,
};
use segue_core::{Error, Result};

use super::connect::connect;
use super::holder_connection::{ANSWER_TIMEOUT, HolderConnection, HolderMessage, silent};
use super::wire::{WireAnswer, WireRequest, capability, encode, encode_message, kind};

use incoming::Incoming;

/// Input is sent in pieces of this size, well below the largest frame.
const INPUT_PIECE_BYTES: usize = 64 << 10;

/// The terminals of the agents on this machine.
#[derive(Clone, Debug)]
pub struct LocalTerminals {
    /// The folder of all launch folders.
    launches: PathBuf,
}

impl LocalTerminals {
    /// Uses the holders whose launch folders are in this folder.
    pub fn new(launches: PathBuf) -> Self {
        Self { launches }
    }
}

#[async_trait]
impl Terminals for LocalTerminals {
    async fn open(
        &self,
        launch: LaunchId,
        access: TerminalAccess,
    ) -> Result<Box<dyn TerminalStream>> {
        let no_holder = || {
            Error::not_found("the agent has no holder, and so no terminal to attach to")
                .hint("run `segue resume` to bring it back")
        };
        let folder = self.launches.join(launch.to_string());
        let connection = connect(&folder).await?.ok_or_else(no_holder)?;
        let opened =
            tokio::time::timeout(ANSWER_TIMEOUT, HolderStream::open(connection, access)).await;
        Ok(Box::new(opened.map_err(|_| silent())??))
    }
}

/// A connection to a holder on which it sends the output of its agent's terminal.
#[derive(Debug)]
struct HolderStream {
    connection: HolderConnection,
    access: TerminalAccess,
    incoming: Incoming,
    /// Events that were not returned yet.
    ready: VecDeque<TerminalEvent>,
}

impl HolderStream {
    /// Requests access. Returns after the holder has granted it and has sent the whole screen.
    async fn open(mut connection: HolderConnection, access: TerminalAccess) -> Result<Self> {
        let (request, incoming) = match access {
            TerminalAccess::View => {
                connection.require(capability::VIEW)?;
                (WireRequest::View, Incoming::default())
            }
            TerminalAccess::Control { size } if connection.can(capability::VIEW) => {
                (WireRequest::Attach(size), Incoming::default())
            }
            // An older holder does not mark the repaint. All output before its answer belongs to
            // the repaint.
            TerminalAccess::Control { size } => {
                (WireRequest::Attach(size), Incoming::in_unmarked_repaint(size))
            }
        };
        // If the holder has closed the connection, its reason can still be read.
        let _sent = connection.send(&encode_message(kind::REQUEST, &request)).await;
        let mut stream = Self { connection, access, incoming, ready: VecDeque::new() };
        stream.wait_for_access().await?;
        Ok(stream)
    }

    async fn wait_for_access(&mut self) -> Result<()> {
        let gone = || Error::unavailable("the process that holds the agent is gone");
        loop {
            match self.connection.next().await.ok_or_else(gone)? {
                HolderMessage::Answer(WireAnswer::Failed(error)) => return Err(error),
                HolderMessage::Answer(_) => {
                    self.ready.extend(self.incoming.end_unmarked_repaint());
                    return Ok(());
                }
                message => self.ready.extend(self.incoming.take(message)),
            }
        }
    }

    fn check_control(&self) -> Result<()> {
        match self.access {
            TerminalAccess::Control { .. } => Ok(()),
            TerminalAccess::View => Err(Error::conflict("this stream only watches the terminal")),
        }
    }

    async fn ask(&mut self, request: &WireRequest) {
        self.send(&encode_message(kind::REQUEST, request)).await;
    }

    /// Sends frames. If the connection is broken, its end is read next.
    async fn send(&mut self, frames: &[u8]) {
        let _sent = self.connection.send(frames).await;
    }
}

#[async_trait]
impl TerminalStream for HolderStream {
    async fn next(&mut self) -> Option<TerminalEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let message = self.connection.next().await?;
            self.ready.extend(self.incoming.take(message));
        }
    }

    async fn input(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_control()?;
        let mut frames = Vec::new();
        bytes.chunks(INPUT_PIECE_BYTES).for_each(|piece| encode(kind::INPUT, piece, &mut frames));
        self.send(&frames).await;
        Ok(())
    }

    async fn resize(&mut self, size: TerminalSize) -> Result<()> {
        self.check_control()?;
        self.ask(&WireRequest::Resize(size)).await;
        Ok(())
    }

    async fn repaint(&mut self) -> Result<()> {
        self.ask(&WireRequest::Repaint).await;
        Ok(())
    }

    async fn scrollback(&mut self, range: ScrollbackRange) -> Result<()> {
        self.connection.require(capability::SCROLLBACK)?;
        match range {
            ScrollbackRange::Newest { count } => {
                self.incoming.expect_scrollback(count);
                self.ask(&WireRequest::Scrollback).await;
            }
            ScrollbackRange::Before { line, count } => {
                self.ready.push_back(self.incoming.page_before(line, count)?);
            }
        }
        Ok(())
    }

    async fn report_wheel(&mut self, is_on: bool) -> Result<()> {
        self.connection.require(capability::SCROLLBACK)?;
        self.ask(&WireRequest::Wheel(is_on)).await;
        Ok(())
    }

    async fn close(&mut self) {
        self.ask(&WireRequest::Detach).await;
    }
}
