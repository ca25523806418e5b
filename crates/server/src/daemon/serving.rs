//! Accepts and closes connections. A daemon that stops closes all connections within seconds,
//! whatever the clients do. It answers health requests until it exits.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ConnectInfo;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use segue_core::{Error, Result};
use segue_host::listener::Listener;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::Daemon;
use crate::network::{self, ListenerInbox};
use crate::routes::{self, PeerInfo, ServedRoutes};

/// How long requests in progress may take after the daemon was asked to stop. Requests that only
/// wait are ended at once.
pub(crate) const REQUEST_GRACE: Duration = Duration::from_secs(2);

/// How long connections may take to finish their responses after the daemon was asked to stop.
/// Then it drops the connections that remain: their clients have sent half a request, or do not
/// read the response.
const DRAIN: Duration = Duration::from_secs(3);

/// How long tasks and files may take to close after that. A copy into the archive is aborted.
pub(crate) const CLOSE: Duration = Duration::from_secs(2);

/// The pause after a failed `accept`, such as for lack of a free file descriptor.
const ACCEPT_RETRY: Duration = Duration::from_secs(1);

/// Every connection that the daemon waits for holds such a sender. The channel closes when the last
/// sender is dropped.
type Open = mpsc::Sender<Infallible>;

/// Serves requests until a request or a signal asks the daemon to stop.
pub(super) async fn serve(
    daemon: Arc<Daemon>,
    mut listener: Listener,
    inbox: ListenerInbox,
) -> Result<()> {
    let failed = |error| Error::internal("the daemon cannot go on").caused_by(error);
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let (open, mut closed) = mpsc::channel(1);
    let connection = ServedConnection::new(Arc::clone(&daemon), open);
    tokio::spawn(network::run(connection.clone(), inbox));
    tokio::select! {
        never = accept(connection, &mut listener) => match never {},
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        () = daemon.stopping() => {}
    }
    daemon.shut_down();
    exit_after_time_limit();
    tokio::select! {
        // New clients get the answer that the daemon stops. The daemon does not wait for them.
        never = accept(ServedConnection::late(Arc::clone(&daemon)), &mut listener) => match never {},
        all_closed = timeout(DRAIN, closed.recv()) => if all_closed.is_err() {
            tracing::warn!("connections were cut off at the end");
        },
    }
    Ok(())
}

/// Accepts connections until the future is dropped.
async fn accept(connection: ServedConnection, listener: &mut Listener) -> Infallible {
    loop {
        match listener.accept().await {
            Ok(stream) => {
                let peer = PeerInfo::of(&stream);
                tokio::spawn(connection.clone().serve(stream, peer));
            }
            Err(error) if is_caused_by_client(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted");
                sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

fn is_caused_by_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Limits for a client that is not trusted to send whole requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HttpLimits {
    /// How long the headers of a request may take, counted from the end of the previous request.
    pub(crate) header_timeout: Duration,
}

/// The most bytes of a request's headers that a client on a network may send.
const MAX_HEADER_BYTES: usize = 32 * 1024;

/// Keeps the daemon from ending before a connection is closed that has left HTTP.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionLease(#[expect(dead_code, reason = "it is only held")] Option<Open>);

/// Serves one client. A clone serves another one.
#[derive(Clone)]
pub(crate) struct ServedConnection {
    pub(crate) daemon: Arc<Daemon>,
    router: TowerToHyperService<axum::Router>,
    /// `None` if the client connected after the daemon was asked to stop.
    open: Option<Open>,
    limits: Option<HttpLimits>,
}

impl ServedConnection {
    fn new(daemon: Arc<Daemon>, open: Open) -> Self {
        Self { open: Some(open), ..Self::late(daemon) }
    }

    /// Serves a client that connected after the daemon was asked to stop.
    fn late(daemon: Arc<Daemon>) -> Self {
        let router = TowerToHyperService::new(routes::router(Arc::clone(&daemon)));
        Self { daemon, router, open: None, limits: None }
    }

    pub(crate) fn limited(self, limits: HttpLimits) -> Self {
        Self { limits: Some(limits), ..self }
    }

    pub(crate) async fn serve<S>(self, stream: S, peer: PeerInfo)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (router, lease) = (self.router.clone(), ConnectionLease(self.open.clone()));
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer.clone()));
            request.extensions_mut().insert(lease.clone());
            request.extensions_mut().insert(ServedRoutes(router.clone()));
            router.call(request)
        });
        let http = self.http().serve_connection(TokioIo::new(stream), service).with_upgrades();
        let mut http = std::pin::pin!(http);
        let ended = tokio::select! {
            ended = http.as_mut() => ended,
            () = self.daemon.stopping(), if self.open.is_some() => {
                // Closes an idle connection at once, and any other connection after its response.
                http.as_mut().graceful_shutdown();
                http.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection broke");
        }
    }

    fn http(&self) -> http1::Builder {
        let mut http = http1::Builder::new();
        http.keep_alive(self.open.is_some());
        if let Some(HttpLimits { header_timeout }) = self.limits {
            http.timer(TokioTimer::new())
                .header_read_timeout(header_timeout)
                .max_buf_size(MAX_HEADER_BYTES);
        }
        http
    }
}

/// Exits this process after a time limit, even if one of its threads is stuck. The user wants the
/// daemon to end, and the store is consistent at any time.
#[expect(clippy::exit, reason = "threads that are stuck cannot be joined")]
#[expect(clippy::disallowed_methods, reason = "a time limit that needs no free thread of tokio's")]
fn exit_after_time_limit() {
    std::thread::spawn(|| {
        std::thread::sleep(DRAIN + CLOSE + Duration::from_secs(1));
        tracing::error!("the daemon did not end in time, and exits now");
        std::process::exit(1);
    });
}
