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
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use segue_core::{Error, Result};
use segue_host::listener::Listener;
use tokio::net::UnixStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::Daemon;
use crate::routes::{self, PeerInfo};

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
pub(super) async fn serve(daemon: Arc<Daemon>, mut listener: Listener) -> Result<()> {
    let failed = |error| Error::internal("the daemon cannot go on").caused_by(error);
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let (open, mut closed) = mpsc::channel(1);
    tokio::select! {
        never = accept(&daemon, &mut listener, Some(open)) => match never {},
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        () = daemon.stopping() => {}
    }
    daemon.shut_down();
    exit_after_time_limit();
    tokio::select! {
        // New clients get the answer that the daemon stops. The daemon does not wait for them.
        never = accept(&daemon, &mut listener, None) => match never {},
        all_closed = timeout(DRAIN, closed.recv()) => if all_closed.is_err() {
            tracing::warn!("connections were cut off at the end");
        },
    }
    Ok(())
}

/// Accepts connections until the future is dropped.
async fn accept(daemon: &Arc<Daemon>, listener: &mut Listener, open: Option<Open>) -> Infallible {
    let router = TowerToHyperService::new(routes::router(Arc::clone(daemon)));
    loop {
        match listener.accept().await {
            Ok(stream) => {
                let connection =
                    ServedConnection { daemon: Arc::clone(daemon), open: open.clone() };
                tokio::spawn(connection.serve(stream, router.clone()));
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

/// One client.
struct ServedConnection {
    daemon: Arc<Daemon>,
    /// `None` if the client connected after the daemon was asked to stop.
    open: Option<Open>,
}

impl ServedConnection {
    async fn serve(self, stream: UnixStream, router: TowerToHyperService<axum::Router>) {
        let peer = PeerInfo::of(&stream);
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer.clone()));
            router.call(request)
        });
        let http = http1::Builder::new()
            .keep_alive(self.open.is_some())
            .serve_connection(TokioIo::new(stream), service);
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
