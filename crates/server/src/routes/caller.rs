//! Identifies the caller of a request: a person, an agent of one of Segue's launches, or a program
//! with a token, which the guard has recognized.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::extract::connect_info::ConnectInfo;
use axum::http::request::Parts;
use segue_core::model::{ListenSettings, Principal};
use segue_core::rules::origin;
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Kind, Result};
use segue_host::peer::Peer;
use tokio::net::UnixStream;

use super::{App, ErrorResponse};
use crate::network::limits::CountedConnection;
use crate::supervisor::Supervisor;

/// Who opened a connection, as it was when the connection was accepted.
#[derive(Clone, Debug)]
pub(crate) enum PeerInfo {
    /// A process on this machine. Later changes of that process have no effect, and neither do other
    /// processes that inherit the connection. `None` if it cannot be identified.
    Process(Option<Arc<Peer>>),
    /// A client on a network, which needs a token.
    Network(NetworkPeer),
}

/// A client on a network.
#[derive(Clone, Debug)]
pub(crate) struct NetworkPeer {
    pub(crate) remote: IpAddr,
    /// The address at which the connection arrived.
    pub(crate) local: SocketAddr,
    pub(crate) settings: Arc<ListenSettings>,
    /// Counts the connection for as long as anything uses it.
    pub(crate) _counted: Arc<CountedConnection>,
}

impl PeerInfo {
    /// Identifies the peer of a connection. Call it right after the connection was accepted.
    pub(crate) fn of(stream: &UnixStream) -> Self {
        Self::Process(Peer::of(stream).ok().map(Arc::new))
    }
}

/// The process that made a request.
#[derive(Clone, Debug)]
pub(crate) struct RequestingProcess(Arc<Peer>);

impl FromRequestParts<App> for RequestingProcess {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ErrorResponse> {
        let info = ConnectInfo::<PeerInfo>::from_request_parts(parts, app).await;
        let peer = match info {
            Ok(ConnectInfo(PeerInfo::Process(peer))) => peer,
            Ok(ConnectInfo(PeerInfo::Network(_))) => return Err(only_here().into()),
            Err(_) => None,
        };
        let unknown = || Error::usage("the calling process cannot be identified");
        let peer = peer.ok_or_else(unknown)?;
        if peer.uid != app.owner {
            return Err(Error::usage("this daemon belongs to another user").into());
        }
        Ok(Self(peer))
    }
}

impl RequestingProcess {
    /// Fails if an agent calls and only a user may do this. The check of a user needs no store: a
    /// user must be able to repair or stop a daemon whose store cannot be opened.
    pub(crate) async fn allow(self, app: &App, action: RestrictedAction) -> Result<()> {
        if self.0.evidence.is_of_a_person() {
            return Ok(());
        }
        self.principal(&*app.ready().await?).await?.allow(action)
    }

    /// Returns whether a user calls. Fails if the caller cannot be identified.
    pub(crate) async fn is_person(&self, app: &App) -> Result<bool> {
        if self.0.evidence.is_of_a_person() {
            return Ok(true);
        }
        Ok(self.clone().principal(&*app.ready().await?).await? == Principal::User)
    }

    /// Returns whether this process started the calling process, or one of its ancestors.
    pub(crate) fn is_below_daemon(&self) -> bool {
        self.0.evidence.lineage.iter().any(|it| it.pid == std::process::id())
    }

    /// Returns the principal that the calling process stands for.
    async fn principal(self, supervisor: &Supervisor) -> Result<Principal> {
        let Some(session) = supervisor.live.caller(&self.0.evidence)? else {
            return Ok(Principal::User);
        };
        match supervisor.ports.store.session(session).await? {
            Some(session) => Ok(Principal::Agent(Box::new(session))),
            None => Err(origin::CallerRefusal::DeadLaunch.into()),
        }
    }
}

/// Returns the error for a client on a network that uses a route for processes.
fn only_here() -> Error {
    Error::new(Kind::Forbidden, "only a program on this machine may do this")
}

/// The principal of a request, and the supervisor after its reconciliation. Routes identify their
/// caller only with this extractor.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(crate) supervisor: Arc<Supervisor>,
    pub(crate) principal: Principal,
}

impl FromRequestParts<App> for Admitted {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ErrorResponse> {
        if let Some(principal) = parts.extensions.get::<Principal>().cloned() {
            return Ok(Self { supervisor: app.ready().await?, principal });
        }
        let caller = RequestingProcess::from_request_parts(parts, app).await?;
        let supervisor = app.ready().await?;
        let principal = caller.principal(&supervisor).await?;
        Ok(Self { supervisor, principal })
    }
}
