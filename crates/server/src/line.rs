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

/// How long a reconnection may take before the user is informed.
const SILENCE: Duration = Duration::from_secs(1);

/// The connection of a client. It is replaced when it breaks.
#[derive(Debug)]
pub(crate) struct Line {
    connection: Mutex<Arc<Connection>>,
    /// What is needed to connect again. `None` disables reconnection.
    local: Option<Box<Local>>,
}

impl Line {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection: Mutex::new(Arc::new(connection)), local: None }
    }

    /// Enables reconnection. A new daemon is started if necessary.
    pub(crate) fn reconnecting(self, local: &Local) -> Self {
        Self { local: Some(Box::new(local.clone())), ..self }
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
        self.attempts((method, path, None), |_| body).await
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

    /// Sends a request that changes something. `body` gets the time that has passed since the first
    /// attempt.
    pub(crate) async fn change_within<B: Serialize + Sync, A: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: impl Fn(Duration) -> B,
    ) -> Result<A> {
        let id = wiring::new_request_id();
        self.attempts((method, path, Some(id)), body).await
    }

    async fn attempts<B: Serialize + Sync, A: DeserializeOwned>(
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
                Err(RequestFailure::Told(error)) => return Err(error),
                Err(RequestFailure::Broken(error)) => error,
            };
            let Some(local) = self.local.as_ref().filter(|_| retries < RETRIES) else {
                return Err(given_up(broken, id));
            };
            retries += 1;
            let fresh = patiently(local, Client::connect(local)).await;
            let fresh = fresh.map_err(|error| given_up(error, id))?;
            *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
        }
    }
}

/// Waits for a new connection. Informs the user if that takes long.
async fn patiently(
    local: &Local,
    connecting: impl Future<Output = Result<Client>>,
) -> Result<Arc<Connection>> {
    let mut connecting = std::pin::pin!(connecting);
    let client = match timeout_at(Instant::now() + SILENCE, &mut connecting).await {
        Ok(client) => client,
        Err(_) => {
            local.notice("the connection to the daemon broke: waiting for the daemon");
            connecting.await
        }
    };
    Ok(client?.into_connection())
}

/// Adds to an error that it is unknown whether the request was carried out.
fn given_up(error: Error, id: Option<RequestId>) -> Error {
    if id.is_none() {
        return error.hint("run the command again");
    }
    error
        .caused_by("whether the request was carried out is not known")
        .hint("run `segue log` to see what was done, and `segue messages` to see what was sent")
}
