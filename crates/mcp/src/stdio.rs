//! The server on standard input and output.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rmcp::service::{ServerInitializeError, serve_server};
use rmcp::transport::stdio_pipes;
use segue_core::{Error, Result};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;

use crate::port::ApiCalls;
use crate::server::McpServer;

/// Serves one client on standard input and output, until its end is closed.
pub async fn serve_stdio(api: Arc<dyn ApiCalls>) -> Result<()> {
    let (input, output) = stdio_pipes();
    serve(api, input, output).await
}

/// Serves one client until `input` ends. Waits are dropped then; changes have a few seconds to
/// answer.
pub(crate) async fn serve(
    api: Arc<dyn ApiCalls>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<()> {
    let (ended, has_ended) = watch::channel(false);
    let server = McpServer::new(api, Some(has_ended));
    let input = WatchedInput { input, ended };
    let failed = |error: &dyn std::fmt::Display| {
        Error::unavailable("the MCP server cannot talk to its client").caused_by(error)
    };
    let running = match serve_server(server, (input, output)).await {
        Ok(running) => running,
        // The client went away before its first request.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(failed(&error)),
    };
    running.waiting().await.map(drop).map_err(|error| failed(&error))
}

/// Input that reports its end.
struct WatchedInput<R> {
    input: R,
    ended: watch::Sender<bool>,
}

impl<R: AsyncRead + Unpin> AsyncRead for WatchedInput<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.input).poll_read(context, buffer);
        if matches!(read, Poll::Ready(Err(_)))
            || (read.is_ready() && buffer.filled().len() == before && buffer.remaining() > 0)
        {
            self.ended.send_replace(true);
        }
        read
    }
}
