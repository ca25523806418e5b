//! The client's connection to the daemon. A request whose connection breaks is sent again.
//!
//! A request that changes something has an id, so that the daemon carries it out once even if it
//! arrives several times.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::Method;
use segue_core::model::RequestId;
use segue_core::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout_at};

use crate::client::Client;
use crate::connection::{Connection, RequestFailure};
use crate::wiring::{self, Local};

/// A request is sent again at most this many times.
const RETRIES: usize = 3;

/// The user is informed if a reconnection takes longer than this.
const NOTICE_AFTER: Duration = Duration::from_secs(1);

/// The connection of a client. It is replaced when it breaks.
#[derive(Debug)]
pub(crate) struct Line {
    connection: Mutex<Arc<Connection>>,
    /// The paths and the environment for a new connection. `None` disables reconnection.
    local: Option<Box<Local>>,
    /// How long a reconnection inside an agent waits for a daemon that another process starts.
    patience: Duration,
}

impl Line {
    pub(crate) fn new(connection: Connection) -> Self {
        let connection = Mutex::new(Arc::new(connection));
        Self { connection, local: None, patience: Duration::ZERO }
    }

    /// Enables reconnection. A new daemon is started if necessary.
    pub(crate) fn reconnecting(self, local: &Local) -> Self {
        Self { local: Some(Box::new(local.clone())), ..self }
    }

    /// Makes a reconnection inside an agent wait for a daemon that another process starts.
    pub(crate) fn patient(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Returns the connection that is used now.
    pub(crate) fn connection(&self) -> Arc<Connection> {
        Arc::clone(&self.connection.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends a request that can be repeated safely.
    pub(crate) async fn ask<A: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<A> {
        self.send((method, path, None), |_| body).await
    }

    /// Sends a request that changes something.
    pub(crate) async fn change<A: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<A> {
        self.change_within(method, path, |_| body).await
    }

    /// Sends a request that changes something. An earlier request with the same id is the same
    /// request, also on another connection.
    pub(crate) async fn change_as<A: DeserializeOwned>(
        &self,
        id: RequestId,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<A> {
        self.send((Method::POST, path, Some(id)), |_| body).await
    }

    /// Sends a request that changes something. `body` gets the time that has passed since the first
    /// attempt.
    pub(crate) async fn change_within<B: Serialize + Sync, A: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: impl Fn(Duration) -> B,
    ) -> Result<A> {
        let id = wiring::new_request_id();
        self.send((method, path, Some(id)), body).await
    }

    /// Sends a request, and sends it again if the connection breaks.
    async fn send<B: Serialize + Sync, A: DeserializeOwned>(
        &self,
        (method, path, id): (Method, &str, Option<RequestId>),
        body: impl Fn(Duration) -> B,
    ) -> Result<A> {
        let began = Instant::now();
        let mut retries = 0;
        loop {
            let connection = self.connection();
            let body = body(began.elapsed());
            let broken = match connection.try_ask((method.clone(), path, id), &body).await {
                Ok(answer) => return Ok(answer),
                Err(RequestFailure::Rejected(error)) => return Err(error),
                Err(RequestFailure::Broken(error)) => error,
            };
            let Some(local) = self.local.as_ref().filter(|_| retries < RETRIES) else {
                return Err(with_unknown_outcome(broken, id));
            };
            retries += 1;
            let connection = reconnect(local, self.patience).await;
            let connection = connection.map_err(|error| with_unknown_outcome(error, id))?;
            *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = connection;
        }
    }
}

/// Opens a new connection. Informs the user if that takes long.
async fn reconnect(local: &Local, patience: Duration) -> Result<Arc<Connection>> {
    let mut connecting = std::pin::pin!(Client::connect_patiently(local, patience));
    let client = match timeout_at(Instant::now() + NOTICE_AFTER, &mut connecting).await {
        Ok(client) => client,
        Err(_) => {
            local.notice("the connection to the daemon broke: waiting for the daemon");
            connecting.await
        }
    };
    Ok(client?.into_connection())
}

/// Adds to an error that it is unknown whether the request was carried out. A request without an id
/// changes nothing and can simply be repeated.
fn with_unknown_outcome(error: Error, id: Option<RequestId>) -> Error {
    if id.is_none() {
        return error.hint("run the command again");
    }
    error
        .caused_by("whether the request was carried out is not known")
        .hint("run `segue log` to see what was done, and `segue messages` to see what was sent")
}
