//! One HTTP connection to the daemon over its Unix socket.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use segue_core::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;
use tokio::sync::Mutex;

use crate::liveness::Resident;
use crate::routes::not_utf8;

/// A connection; requests go one after the other.
#[derive(Debug)]
pub(crate) struct Connection {
    // An async mutex is the queue of requests here: the connection itself can carry only one.
    sender: Mutex<SendRequest<Full<Bytes>>>,
    resident: Resident,
}

impl Connection {
    pub(crate) async fn open(stream: UnixStream, resident: Resident) -> Result<Self> {
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(lost)?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection to the daemon ended");
            }
        });
        Ok(Self { sender: Mutex::new(sender), resident })
    }

    /// Asks and reads the whole answer; gives up when the daemon does not answer any more.
    pub(crate) async fn ask<B: Serialize + Sync, A: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &B,
    ) -> Result<A> {
        self.resident.answered(path, self.ask_unwatched(method, path, body)).await
    }

    /// Asks and reads the whole answer, however long that takes.
    pub(crate) async fn ask_unwatched<B: Serialize + Sync, A: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &B,
    ) -> Result<A> {
        let response = self.send(method, path, body).await?;
        let bytes = response.into_body().collect().await.map_err(lost)?.to_bytes();
        serde_json::from_slice(&bytes).map_err(|error| {
            Error::unavailable("the daemon's answer cannot be understood")
                .caused_by(error)
                .hint("run `segue daemon stop`, then try again")
        })
    }

    /// Tells whether the daemon has hung up.
    pub(crate) async fn is_broken(&self) -> bool {
        self.sender.lock().await.is_closed()
    }

    /// Asks, and returns the answer's body to be read as it comes.
    pub(crate) async fn follow(&self, path: &str) -> Result<Incoming> {
        let response = self.resident.answered(path, self.send(Method::GET, path, &())).await?;
        Ok(response.into_body())
    }

    /// Returns the daemon at the other end.
    pub(crate) fn resident(&self) -> &Resident {
        &self.resident
    }

    async fn send<B: Serialize + Sync>(
        &self,
        method: Method,
        path: &str,
        body: &B,
    ) -> Result<Response<Incoming>> {
        let body = serde_json::to_vec(body).map_err(not_utf8)?;
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "segue")
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| Error::internal("a request cannot be made").caused_by(error))?;
        let answer = self.sender.lock().await.send_request(request);
        let response = answer.await.map_err(lost)?;
        if response.status().is_success() { Ok(response) } else { Err(refusal(response).await) }
    }
}

async fn refusal(response: Response<Incoming>) -> Error {
    let status = response.status();
    match response.into_body().collect().await {
        Ok(body) => serde_json::from_slice(&body.to_bytes()).unwrap_or_else(|_| {
            Error::unavailable(format!("the daemon answered {status}"))
                .hint("run `segue daemon stop`, then try again: it may be of another version")
        }),
        Err(error) => lost(error),
    }
}

fn lost(error: hyper::Error) -> Error {
    Error::unavailable("the connection to the daemon broke")
        .caused_by(error)
        .hint("run the command again: what was begun is recorded, and nothing is done twice")
}
