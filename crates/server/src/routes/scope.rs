//! Who calls: a person, or an agent that one of our launches started.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::extract::connect_info::ConnectInfo;
use axum::http::request::Parts;
use segue_core::rules::origin;
use segue_core::rules::scope::{Deed, Scope};
use segue_core::{Error, Result};
use segue_host::peer::Peer;
use tokio::net::UnixStream;

use super::{App, Refusal};
use crate::supervisor::Supervisor;

/// The process at the other end of a connection, as it was when the connection was accepted: what
/// becomes of it later, or who else has its descriptors, changes nothing.
#[derive(Clone, Debug)]
pub(crate) struct PeerInfo(Option<Arc<Peer>>);

impl PeerInfo {
    /// Finds out who connected. Ask right after the connection was accepted.
    pub(crate) fn of(stream: &UnixStream) -> Self {
        Self(Peer::of(stream).ok().map(Arc::new))
    }
}

/// The process that made a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller(Arc<Peer>);

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
        if self.0.evidence.is_of_a_person() {
            return Ok(());
        }
        self.scope(&*app.ready().await?).await?.allow(deed)
    }

    /// Returns whether a person calls; refuses a caller that cannot be identified.
    pub(crate) async fn is_person(&self, app: &App) -> Result<bool> {
        if self.0.evidence.is_of_a_person() {
            return Ok(true);
        }
        Ok(self.clone().scope(&*app.ready().await?).await? == Scope::Person)
    }

    /// Returns what the caller may do.
    pub(crate) async fn scope(self, supervisor: &Supervisor) -> Result<Scope> {
        let Some(session) = supervisor.live.caller(&self.0.evidence)? else {
            return Ok(Scope::Person);
        };
        match supervisor.ports.store.session(session).await? {
            Some(session) => Ok(Scope::Agent(Box::new(session))),
            None => Err(origin::Refusal::DeadLaunch.into()),
        }
    }
}
