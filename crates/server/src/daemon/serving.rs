//! Connections from the first to the last: a daemon that stops ends all of them within seconds,
//! whatever is at their other ends, and answers until its end what it is about.

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

/// How long requests that are under way may take once the daemon stops. Waits are ended at once.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// How long connections may take to be through with their answers once the daemon stops. Clients
/// that send half a request or read nothing are left behind.
const DRAIN: Duration = Duration::from_secs(3);

/// How long tasks and files may take to be closed after that; a copy into the archive is cut short.
pub(crate) const CLOSE: Duration = Duration::from_secs(2);

/// Without a free descriptor nobody can be let in; one may be free after this long.
const NO_DESCRIPTOR: Duration = Duration::from_secs(1);

/// Held by every connection that is to be waited for.
type Open = mpsc::Sender<Infallible>;

/// Serves until the daemon is asked to stop, by a request or by a signal, and then ends.
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
    end_anyway();
    tokio::select! {
        // Whoever comes now is told that the daemon stops, and is not waited for.
        never = accept(&daemon, &mut listener, None) => match never {},
        all_closed = timeout(DRAIN, closed.recv()) => if all_closed.is_err() {
            tracing::warn!("connections were cut off at the end");
        },
    }
    Ok(())
}

/// Takes connections for ever.
async fn accept(daemon: &Arc<Daemon>, listener: &mut Listener, open: Option<Open>) -> Infallible {
    let router = TowerToHyperService::new(routes::router(Arc::clone(daemon)));
    loop {
        match listener.accept().await {
            Ok(stream) => {
                let connection = Connection { daemon: Arc::clone(daemon), open: open.clone() };
                tokio::spawn(connection.serve(stream, router.clone()));
            }
            Err(error) if is_about_the_client(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be taken");
                sleep(NO_DESCRIPTOR).await;
            }
        }
    }
}

fn is_about_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// One client.
struct Connection {
    daemon: Arc<Daemon>,
    /// `None` if the daemon stopped before this client came.
    open: Option<Open>,
}

impl Connection {
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
                // One that is idle is closed at once, any other one after its answer.
                http.as_mut().graceful_shutdown();
                http.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection broke");
        }
    }
}

/// Ends this process even if a thread of it is stuck: whoever stops the daemon wants it gone, and
/// the store is whole at every moment.
#[expect(clippy::exit, reason = "threads that are stuck cannot be joined")]
#[expect(clippy::disallowed_methods, reason = "a time limit that needs no free thread of tokio's")]
fn end_anyway() {
    std::thread::spawn(|| {
        std::thread::sleep(DRAIN + CLOSE + Duration::from_secs(1));
        tracing::error!("the daemon did not end in time, and is ended as it is");
        std::process::exit(1);
    });
}
