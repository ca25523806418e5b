//! Requests over TCP. One task owns the listener: it accepts connections, and changes the address
//! when it is asked to. The settings are stored, so that the next daemon listens there as well.

pub(crate) mod limits;
mod tls;

use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::sockopt::{set_socket_keepalive, set_tcp_keepidle, set_tcp_user_timeout};
use segue_core::api::{ListenerState, ServeReport, ServeRequest};
use segue_core::model::{EventPayload, ListenSettings, NewEvent, Transport};
use segue_core::ports::{Change, Commit};
use segue_core::rules::listening;
use segue_core::rules::login_codes::LoginCodes;
use segue_core::{Error, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use self::limits::NetworkLimits;
use self::tls::Certificate;
use crate::daemon::{Daemon, HttpLimits, ServedConnection};
use crate::routes::{NetworkPeer, PeerInfo};

/// How long a client may take for the TLS handshake, and then for the headers of each request.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a client may leave sent data unread.
const UNREAD_TIMEOUT_MS: u32 = 30_000;

/// The kernel asks a client that has sent nothing for this long whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// The pause after a failed `accept`, such as for lack of a free file descriptor.
const ACCEPT_RETRY: Duration = Duration::from_secs(1);

/// The daemon's access to the task that listens.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) limits: NetworkLimits,
    login_codes: Mutex<LoginCodes>,
    requests: mpsc::Sender<ListenerRequest>,
}

/// A request to the task that listens.
#[derive(Debug)]
struct ListenerRequest {
    serve: ServeRequest,
    reply: oneshot::Sender<Result<ServeReport>>,
}

/// The requests to the task that listens.
#[derive(Debug)]
pub(crate) struct ListenerInbox(mpsc::Receiver<ListenerRequest>);

impl Network {
    pub(crate) fn new() -> (Self, ListenerInbox) {
        let (requests, inbox) = mpsc::channel(8);
        let (limits, login_codes) = (NetworkLimits::default(), Mutex::default());
        (Self { limits, login_codes, requests }, ListenerInbox(inbox))
    }

    /// Returns the codes of login links. They end with the daemon.
    pub(crate) fn login_codes(&self) -> MutexGuard<'_, LoginCodes> {
        self.login_codes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes where the daemon listens, or reports it.
    pub(crate) async fn serve(&self, serve: ServeRequest) -> Result<ServeReport> {
        let stopping = || Error::unavailable("the daemon is stopping");
        let (reply, answer) = oneshot::channel();
        let request = ListenerRequest { serve, reply };
        self.requests.send(request).await.map_err(|_| stopping())?;
        answer.await.unwrap_or_else(|_| Err(stopping()))
    }
}

/// Listens where the stored settings say, until the daemon stops.
pub(crate) async fn run(connection: ServedConnection, inbox: ListenerInbox) {
    let connection = connection.limited(HttpLimits { header_timeout: HANDSHAKE_TIMEOUT });
    let daemon = Arc::clone(&connection.daemon);
    let mut task = ListenerTask { daemon, connection, wanted: None, bound: Err(None) };
    task.restore().await;
    let ListenerInbox(mut inbox) = inbox;
    loop {
        tokio::select! {
            request = inbox.recv() => match request {
                Some(ListenerRequest { serve, reply }) => {
                    // The client has disconnected if nothing receives the answer.
                    let _received = reply.send(task.carry_out(serve).await);
                }
                None => return,
            },
            (stream, peer) = accept(task.bound.as_ref().ok()) => task.serve(stream, peer),
            () = task.daemon.stopping() => return,
        }
    }
}

/// Accepts the next connection. Waits forever without a listener.
async fn accept(bound: Option<&BoundListener>) -> (TcpStream, SocketAddr) {
    let Some(bound) = bound else { return pending().await };
    loop {
        match bound.listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted");
                sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

struct ListenerTask {
    daemon: Arc<Daemon>,
    connection: ServedConnection,
    /// The stored settings.
    wanted: Option<ListenSettings>,
    /// The listener, or why there is none although it is wanted.
    bound: Result<BoundListener, Option<Error>>,
}

/// A socket that accepts connections.
struct BoundListener {
    listener: TcpListener,
    settings: Arc<ListenSettings>,
    certificate: Option<Arc<Certificate>>,
}

impl ListenerTask {
    /// Listens where the stored settings say.
    async fn restore(&mut self) {
        let stored = async { self.daemon.ready().await?.ports.store.listener().await };
        match stored.await {
            Ok(wanted) => self.wanted = wanted,
            Err(error) => self.bound = Err(Some(error)),
        }
        let Some(mut settings) = self.wanted.clone() else { return };
        let bound = async {
            let (certificate, listener) = (certificate(&settings)?, bind(&mut settings).await?);
            Ok(BoundListener { listener, settings: Arc::new(settings), certificate })
        };
        self.bound = bound.await.map_err(|error: Error| {
            tracing::error!(%error, "the daemon cannot listen");
            Some(error)
        });
    }

    async fn carry_out(&mut self, request: ServeRequest) -> Result<ServeReport> {
        match request {
            ServeRequest::Report => {}
            ServeRequest::Off => {
                self.record(None).await?;
                self.bound = Err(None);
            }
            ServeRequest::On(settings) => self.listen(settings).await?,
        }
        Ok(self.report())
    }

    /// Listens at another address, or with other settings. If that fails, nothing changes.
    async fn listen(&mut self, mut settings: ListenSettings) -> Result<()> {
        listening::check(&settings)?;
        let certificate = certificate(&settings)?;
        let earlier = self.bound.as_ref().ok().map(|bound| bound.settings.address);
        let listener = match earlier == Some(settings.address) {
            // This daemon itself occupies the address.
            true => None,
            false => Some(bind(&mut settings).await?),
        };
        self.record(Some(settings.clone())).await?;
        let settings = Arc::new(settings);
        match (listener, &mut self.bound) {
            (None, Ok(bound)) => (bound.settings, bound.certificate) = (settings, certificate),
            (None, Err(_)) => {}
            (Some(listener), bound) => {
                *bound = Ok(BoundListener { listener, settings, certificate });
            }
        }
        Ok(())
    }

    async fn record(&mut self, settings: Option<ListenSettings>) -> Result<()> {
        let ports = &self.daemon.ready().await?.ports;
        let address = settings.as_ref().map(|settings| settings.address.to_string());
        let payload = EventPayload::ListenerChanged { address };
        let event = NewEvent { at: ports.clock.now(), session: None, launch: None, payload };
        let change = Change::SetListener(settings.clone().map(Box::new));
        ports.store.commit(Commit { changes: vec![change], events: vec![event] }).await?;
        self.wanted = settings;
        Ok(())
    }

    fn report(&self) -> ServeReport {
        let wanted = self.wanted.clone();
        let error = self.bound.as_ref().err().and_then(Option::as_ref).map(ToString::to_string);
        let state = match (&self.bound, &wanted) {
            (Ok(_), _) => ListenerState::Listening,
            (Err(_), None) => ListenerState::Off,
            (Err(_), Some(_)) => ListenerState::Failed,
        };
        ServeReport {
            state,
            address: wanted.as_ref().map(|it| it.address),
            transport: wanted.as_ref().map(|it| it.transport.clone()),
            url: wanted.as_ref().map(listening::page_url),
            hosts: wanted.map(|it| it.hosts).unwrap_or_default(),
            error,
        }
    }

    /// Serves a connection in a task of its own.
    fn serve(&self, stream: TcpStream, remote: SocketAddr) {
        let Ok(bound) = &self.bound else { return };
        let remote = remote.ip().to_canonical();
        let Some(counted) = self.daemon.network.limits.open(remote) else {
            tracing::warn!(%remote, "too many connections: one was closed");
            return;
        };
        let Ok(local) = stream.local_addr() else { return };
        // If these fail, the connection works, but slower or longer.
        let _prompt = stream.set_nodelay(true);
        let _bounded = set_tcp_user_timeout(&stream, UNREAD_TIMEOUT_MS);
        let _checked =
            set_socket_keepalive(&stream, true).and_then(|()| set_tcp_keepidle(&stream, KEEPALIVE));
        let settings = Arc::clone(&bound.settings);
        let counted = Arc::new(counted);
        let peer = PeerInfo::Network(NetworkPeer { remote, local, settings, _counted: counted });
        let (connection, certificate) = (self.connection.clone(), bound.certificate.clone());
        tokio::spawn(async move {
            match certificate {
                None => connection.serve(stream, peer).await,
                Some(certificate) => {
                    let accepted = certificate.acceptor().accept(stream);
                    match timeout(HANDSHAKE_TIMEOUT, accepted).await {
                        Ok(Ok(stream)) => connection.serve(stream, peer).await,
                        Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                        Err(_) => tracing::debug!("a TLS handshake took too long"),
                    }
                }
            }
        });
    }
}

/// Reads the certificate. `None` if the settings name none.
fn certificate(settings: &ListenSettings) -> Result<Option<Arc<Certificate>>> {
    let Transport::Tls { certificate, key } = &settings.transport else { return Ok(None) };
    Certificate::read(certificate, key).map(Arc::new).map(Some)
}

/// Binds the address of the settings. If its port is 0, the settings get the port that the system
/// has chosen.
async fn bind(settings: &mut ListenSettings) -> Result<TcpListener> {
    let failed = |error| {
        Error::unavailable(format!("cannot listen on {}", settings.address))
            .caused_by(error)
            .hint("use another address: `segue serve --listen 127.0.0.1:PORT`")
    };
    let listener = TcpListener::bind(settings.address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    settings.address = address;
    Ok(listener)
}
