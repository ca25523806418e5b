//! Passes an agent's terminal on to a client, and the client's input to the agent.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use segue_core::api::{TerminalRequest, TerminalUpdate};
use segue_core::model::{LaunchEnd, TerminalSize};
use segue_core::ports::{ScrollbackRange, TerminalEvent, TerminalSnapshot, TerminalStream};
use segue_core::{Error, Result};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::super::App;
use super::super::access_life::AccessLife;
use super::handshake::ClientSocket;

/// How long a client may take to close the connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The connection to one client.
#[derive(Debug)]
pub(super) struct TerminalConnection {
    socket: ClientSocket,
    stream: Box<dyn TerminalStream>,
}

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionEnd {
    /// The client has closed the connection, or it broke.
    Client,
    /// The agent has ended.
    Agent,
    /// The client may connect again.
    Server(&'static str),
}

impl TerminalConnection {
    pub(super) fn new(socket: ClientSocket, stream: Box<dyn TerminalStream>) -> Self {
        Self { socket, stream }
    }

    /// Works until the client, the agent, the daemon or the right of the client ends.
    pub(super) async fn run(mut self, life: AccessLife, app: &App) {
        let end = tokio::select! {
            end = self.pass_on() => end,
            () = life.ended() => ConnectionEnd::Server("the access has ended"),
            () = app.stopping() => ConnectionEnd::Server("the daemon is stopping"),
        };
        self.stream.close().await;
        // A client that does not read or answer is cut off.
        let _closed = timeout(CLOSE_TIMEOUT, self.close(end)).await;
    }

    async fn pass_on(&mut self) -> ConnectionEnd {
        loop {
            let end = tokio::select! {
                received = self.socket.next() => match received {
                    Some(Ok(message)) => self.receive(message).await,
                    Some(Err(_)) | None => Err(ConnectionEnd::Client),
                },
                event = self.stream.next() => match event {
                    Some(event) => self.send_event(event).await,
                    None => Err(ConnectionEnd::Server("the agent's terminal is gone")),
                },
            };
            if let Err(end) = end {
                return end;
            }
        }
    }

    async fn receive(&mut self, message: Message) -> Result<(), ConnectionEnd> {
        let done = match message {
            Message::Binary(bytes) => self.stream.input(&bytes).await,
            Message::Text(text) => match serde_json::from_str(&text) {
                Ok(TerminalRequest::Ping { id }) => {
                    return self.notify(&TerminalUpdate::Pong { id }).await;
                }
                Ok(request) => self.carry_out(request).await,
                Err(error) => Err(Error::usage("the message is not understood").caused_by(error)),
            },
            Message::Close(_) => return Err(ConnectionEnd::Client),
            // The library answers pings by itself.
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => return Ok(()),
        };
        match done {
            Ok(()) => Ok(()),
            Err(error) => self.notify(&refused(&error)).await,
        }
    }

    async fn carry_out(&mut self, request: TerminalRequest) -> Result<()> {
        match request {
            TerminalRequest::Resize { rows, columns } => {
                self.stream.resize(TerminalSize { rows, cols: columns }.clamped()).await
            }
            TerminalRequest::Repaint => self.stream.repaint().await,
            TerminalRequest::Scrollback { before: None, count } => {
                self.stream.scrollback(ScrollbackRange::Newest { count }).await
            }
            TerminalRequest::Scrollback { before: Some(line), count } => {
                self.stream.scrollback(ScrollbackRange::Before { line, count }).await
            }
            TerminalRequest::Ping { .. } => Ok(()),
        }
    }

    async fn send_event(&mut self, event: TerminalEvent) -> Result<(), ConnectionEnd> {
        match event {
            TerminalEvent::Output(bytes) => self.send(Message::binary(bytes)).await,
            TerminalEvent::Snapshot(TerminalSnapshot { size, painted }) => {
                let notice = TerminalUpdate::Snapshot { rows: size.rows, columns: size.cols };
                self.socket.feed(text(&notice)).await.map_err(|_| ConnectionEnd::Client)?;
                self.send(Message::binary(painted)).await
            }
            TerminalEvent::Uses(uses) => {
                let (alternate, mouse) = (uses.alternate, uses.mouse);
                self.notify(&TerminalUpdate::Uses { alternate, mouse }).await
            }
            TerminalEvent::Clients(clients) => {
                let (controllers, viewers) = (clients.controllers, clients.viewers);
                self.notify(&TerminalUpdate::Clients { controllers, viewers }).await
            }
            TerminalEvent::Scrollback(page) => {
                let notice = TerminalUpdate::Scrollback {
                    first: page.first,
                    lines: page.lines,
                    total: page.total,
                    has_forgotten: page.has_forgotten,
                    alternate: page.alternate,
                };
                self.notify(&notice).await
            }
            TerminalEvent::Refused(error) => self.notify(&refused(&error)).await,
            TerminalEvent::Ended(end) => {
                self.notify(&TerminalUpdate::Ended { how: how(end) }).await?;
                Err(ConnectionEnd::Agent)
            }
        }
    }

    async fn notify(&mut self, notice: &TerminalUpdate) -> Result<(), ConnectionEnd> {
        self.send(text(notice)).await
    }

    /// Sends a message. Waits as long as the client does not read; the holder drops output
    /// meanwhile, and sends a snapshot afterwards.
    async fn send(&mut self, message: Message) -> Result<(), ConnectionEnd> {
        self.socket.send(message).await.map_err(|_| ConnectionEnd::Client)
    }

    /// Reports the end to the client, and waits until the client has closed the connection. A
    /// connection that is closed with unread input could lose what was sent last.
    async fn close(mut self, end: ConnectionEnd) {
        let frame = match end {
            ConnectionEnd::Client => None,
            ConnectionEnd::Agent => Some((CloseCode::Normal, "the agent has ended")),
            ConnectionEnd::Server(why) => Some((CloseCode::Away, why)),
        };
        let frame = frame.map(|(code, reason)| CloseFrame { code, reason: reason.into() });
        if self.socket.close(frame).await.is_ok() {
            while let Some(Ok(_)) = self.socket.next().await {}
        }
    }
}

fn text(notice: &TerminalUpdate) -> Message {
    Message::text(serde_json::to_string(notice).unwrap_or_default())
}

fn refused(error: &Error) -> TerminalUpdate {
    TerminalUpdate::Refused { message: error.to_string() }
}

fn how(end: LaunchEnd) -> String {
    if end.is_requested { "stopped".to_owned() } else { end.exit.to_string() }
}
