//! The change from HTTP to a WebSocket (RFC 6455).

use axum::extract::FromRequestParts;
use axum::http::header::{
    CONNECTION, HeaderName, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
    UPGRADE,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use segue_core::api::TERMINAL_PROTOCOL;
use segue_core::{Error, Result};
use sha1::{Digest as _, Sha1};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::super::{App, ErrorResponse, PeerInfo};
use crate::daemon::ConnectionLease;

/// The text that every server appends to a client's key.
const KEY_END: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The largest message of a client. Only a paste can be large.
const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// What a connection keeps for reading. Most messages are single keys.
const READ_BUFFER_BYTES: usize = 4 << 10;

/// A WebSocket to a client.
pub(super) type ClientSocket = WebSocketStream<TokioIo<Upgraded>>;

/// What a connection holds for as long as it is open.
#[derive(Debug)]
pub(super) struct HeldConnection {
    _counted: Option<PeerInfo>,
    _lease: Option<ConnectionLease>,
}

/// A request that becomes a WebSocket.
#[derive(Debug)]
pub(crate) struct WebSocketUpgrade {
    key: String,
    /// Whether the client has offered the subprotocol of terminals.
    is_protocol_offered: bool,
    upgrade: OnUpgrade,
    held: HeldConnection,
}

impl FromRequestParts<App> for WebSocketUpgrade {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, ErrorResponse> {
        let headers = &parts.headers;
        let is_wanted = has_word(headers, &CONNECTION, "upgrade")
            && has_word(headers, &UPGRADE, "websocket")
            && has_word(headers, &SEC_WEBSOCKET_VERSION, "13");
        let key = headers.get(SEC_WEBSOCKET_KEY).and_then(|it| it.to_str().ok());
        let upgrade = parts.extensions.get::<OnUpgrade>().cloned();
        let (true, Some(key), Some(upgrade)) = (is_wanted, key, upgrade) else {
            return Err(Error::usage("this path is a WebSocket")
                .hint("connect with a client for WebSockets, version 13")
                .into());
        };
        let peer = parts.extensions.get::<axum::extract::ConnectInfo<PeerInfo>>();
        let held = HeldConnection {
            _counted: peer.map(|it| it.0.clone()),
            _lease: parts.extensions.get::<ConnectionLease>().cloned(),
        };
        let is_protocol_offered = has_word(headers, &SEC_WEBSOCKET_PROTOCOL, TERMINAL_PROTOCOL);
        Ok(Self { key: key.to_owned(), is_protocol_offered, upgrade, held })
    }
}

impl WebSocketUpgrade {
    /// Returns the header that proves to the client that this server speaks WebSocket.
    pub(super) fn accept(&self) -> Result<HeaderValue> {
        let unwritable = |_| Error::internal("a WebSocket cannot be opened");
        HeaderValue::try_from(accepted(&self.key)).map_err(unwritable)
    }

    /// Returns the subprotocol of the connection. A client that has offered some fails without one.
    /// The key of a page is offered as well, and is never chosen.
    pub(super) fn protocol(&self) -> Option<HeaderValue> {
        self.is_protocol_offered.then(|| HeaderValue::from_static(TERMINAL_PROTOCOL))
    }

    /// Waits until the answer is sent. `None` if the client has disconnected.
    pub(super) async fn finish(self) -> Option<(ClientSocket, HeldConnection)> {
        let stream = TokioIo::new(self.upgrade.await.ok()?);
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
        Some((socket, self.held))
    }
}

fn accepted(key: &str) -> String {
    let digest = Sha1::new().chain_update(key).chain_update(KEY_END).finalize();
    STANDARD.encode(digest)
}

/// Returns whether a header with a list of words has this word.
fn has_word(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let lines = headers.get_all(name).iter().filter_map(|it| it.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|it| it.trim().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_of_the_standard_has_the_answer_of_the_standard() {
        assert_eq!(accepted("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}
