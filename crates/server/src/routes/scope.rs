//! Who calls: a person, or an agent that one of our launches started.

use axum::extract::FromRequestParts;
use axum::extract::connect_info::ConnectInfo;
use axum::http::request::Parts;
use segue_core::rules::scope::{Deed, Scope};
use segue_core::{Error, Result};
use segue_host::machine;
use segue_host::socket::{self, Peer};
use tokio::net::UnixStream;

use super::{App, Refusal};
use crate::supervisor::{Origin, Supervisor};

/// The process at the other end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct PeerInfo(Option<Peer>);

impl PeerInfo {
    /// Finds out who connected.
    pub(crate) fn of(stream: &UnixStream) -> Self {
        Self(socket::peer(stream).ok())
    }
}

/// The process that made a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller(Peer);

impl FromRequestParts<App> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let info = ConnectInfo::<PeerInfo>::from_request_parts(parts, app).await;
        let peer = info.ok().and_then(|ConnectInfo(info)| info.0);
        let unknown = || Error::usage("the calling process cannot be identified");
        let peer = peer.ok_or_else(unknown)?;
        if peer.uid != app.owner {
            return Err(Error::usage("this daemon belongs to another user").into());
        }
        Ok(Self(peer))
    }
}

impl Caller {
    /// Refuses an agent what only a person may do. A person may do it without a store, too: a daemon
    /// that has none must be mended or ended all the same.
    pub(crate) async fn allow(self, app: &App, deed: Deed) -> Result<()> {
        if !machine::is_inside_launch(self.0.pid) {
            return Ok(());
        }
        self.scope(&*app.ready().await?).await?.allow(deed)
    }

    /// Returns what the caller may do.
    pub(crate) async fn scope(self, supervisor: &Supervisor) -> Result<Scope> {
        let ports = &supervisor.ports;
        match supervisor.live.origin(ports.machine.as_ref(), self.0.pid) {
            Origin::Elsewhere => Ok(Scope::Person),
            Origin::DeadLaunch => Err(too_late()),
            Origin::Launch(session) => match ports.store.session(session).await? {
                Some(session) => Ok(Scope::Agent(Box::new(session))),
                None => Err(too_late()),
            },
        }
    }
}

fn too_late() -> Error {
    Error::usage("an agent whose launch is over may not use Segue")
}
