//! One HTTP connection to the daemon over its Unix socket.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use segue_core::api::REQUEST_HEADER;
use segue_core::model::RequestId;
use segue_core::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;
use tokio::sync::Mutex;

use crate::liveness::Resident;
use crate::routes::not_utf8;

/// The size of the buffer for a response. The allocator uses the memory of small buffers again. For
/// larger ones it asks the kernel each time, which takes longer than the additional reads.
const READ_BUFFER_BYTES: usize = 64 << 10;

/// A connection. It carries one request at a time.
#[derive(Debug)]
pub(crate) struct Connection {
    // An async mutex, because a second request has to wait for the first.
    sender: Mutex<SendRequest<Full<Bytes>>>,
    resident: Resident,
}

impl Connection {
    pub(crate) async fn open(stream: UnixStream, resident: Resident) -> Result<Self> {
        let mut builder = Builder::new();
        builder.max_buf_size(READ_BUFFER_BYTES);
        let opened = builder.handshake(TokioIo::new(stream)).await.map_err(broken);
        let (sender, connection) = opened.map_err(Error::from)?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection to the daemon ended");
            }
        });
        Ok(Self { sender: Mutex::new(sender), resident })
    }

    /// Sends a request and reads the whole response. Fails if the daemon stops responding.
    pub(crate) async fn ask<B: Serialize + Sync, A: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &B,
    ) -> Result<A> {
        Ok(self.try_ask((method, path, None), body).await?)
    }

    /// Sends a request and reads the whole response. Fails if the daemon stops responding. The
    /// error distinguishes a broken connection from an error response.
    pub(crate) async fn try_ask<B: Serialize + Sync, A: DeserializeOwned>(
        &self,
        (method, path, id): (Method, &str, Option<RequestId>),
        body: &B,
    ) -> Result<A, RequestFailure> {
        let answer = async { Ok(self.try_ask_unwatched((method, path, id), body).await) };
        self.resident.answered(path, answer).await?
    }

    /// Sends a request and reads the whole response. Waits even if the daemon stops responding.
    pub(crate) async fn ask_unwatched<B: Serialize + Sync, A: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &B,
    ) -> Result<A> {
        Ok(self.try_ask_unwatched((method, path, None), body).await?)
    }

    async fn try_ask_unwatched<B: Serialize + Sync, A: DeserializeOwned>(
        &self,
        (method, path, id): (Method, &str, Option<RequestId>),
        body: &B,
    ) -> Result<A, RequestFailure> {
        let response = self.send((method, path, id), body).await?;
        let bytes = whole(response.into_body()).await.map_err(broken)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let error = Error::unavailable("the daemon's answer cannot be understood")
                .caused_by(error)
                .hint("run `segue daemon stop`, then try again");
            RequestFailure::Rejected(error)
        })
    }

    /// Returns whether the daemon has closed the connection.
    pub(crate) async fn is_broken(&self) -> bool {
        self.sender.lock().await.is_closed()
    }

    /// Sends a request, and returns the response body as a stream.
    pub(crate) async fn follow(&self, path: &str) -> Result<Incoming> {
        let answer = async { Ok(self.send((Method::GET, path, None), &()).await?) };
        Ok(self.resident.answered(path, answer).await?.into_body())
    }

    /// Returns the daemon at the other end.
    pub(crate) fn resident(&self) -> &Resident {
        &self.resident
    }

    async fn send<B: Serialize + Sync>(
        &self,
        (method, path, id): (Method, &str, Option<RequestId>),
        body: &B,
    ) -> Result<Response<Incoming>, RequestFailure> {
        let body = serde_json::to_vec(body).map_err(not_utf8)?;
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "segue")
            .header("content-type", "application/json");
        if let Some(id) = id {
            request = request.header(REQUEST_HEADER, id.to_string());
        }
        let request = request
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| Error::internal("a request cannot be made").caused_by(error))?;
        let answer = self.sender.lock().await.send_request(request);
        let response = answer.await.map_err(broken)?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(rejection(response).await)
    }
}

/// The most memory that is allocated for a response before it arrives.
const FIRST_CAPACITY_BYTES: usize = 16 << 20;

/// Reads a whole body. Each piece is copied as soon as it arrives, so that the connection can use its
/// memory for the next piece.
async fn whole(mut body: Incoming) -> Result<Vec<u8>, hyper::Error> {
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(expected.min(FIRST_CAPACITY_BYTES));
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes)
}

/// Reads the error in a response.
async fn rejection(response: Response<Incoming>) -> RequestFailure {
    let status = response.status();
    let body = match response.into_body().collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return broken(error),
    };
    RequestFailure::Rejected(serde_json::from_slice(&body).unwrap_or_else(|_| {
        Error::unavailable(format!("the daemon answered {status}"))
            .hint("run `segue daemon stop`, then try again: it may be of another version")
    }))
}

fn broken(error: hyper::Error) -> RequestFailure {
    RequestFailure::Broken(
        Error::unavailable("the connection to the daemon broke").caused_by(error),
    )
}

/// Why a request failed.
#[derive(Debug)]
pub(crate) enum RequestFailure {
    /// The connection broke. It is unknown whether the daemon carried out the request.
    Broken(Error),
    /// The request was not sent, the daemon responded with this error, or its response is invalid.
    Rejected(Error),
}

impl From<Error> for RequestFailure {
    fn from(error: Error) -> Self {
        Self::Rejected(error)
    }
}

impl From<RequestFailure> for Error {
    fn from(failure: RequestFailure) -> Self {
        match failure {
            RequestFailure::Broken(error) | RequestFailure::Rejected(error) => error,
        }
    }
}
