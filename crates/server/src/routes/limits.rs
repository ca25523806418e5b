//! Time limits for requests: for their arrival, and for their completion while the daemon stops.

use std::time::Duration;

use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use segue_core::model::MAX_DELIVERY_BYTES;
use segue_core::{Error, Kind, Result};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{sleep, timeout};

use super::{App, ErrorResponse, MAX_REQUEST_BYTES};
use crate::daemon::REQUEST_GRACE;

/// How long the body of a request may take to arrive after its headers.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(30);

/// The kind of a request. It determines what happens to the request if its client disconnects or
/// the daemon stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    /// Concerns the daemon itself. It is answered until the daemon ends.
    Daemon,
    /// Waits for an event that may never happen. It is ended at once when the daemon stops.
    Wait,
    /// Records a message and waits for its delivery.
    Send,
    /// Starts or ends processes. It continues if its client disconnects.
    LongChange,
    /// Any other request. It is short.
    Short,
}

impl Sort {
    fn of(path: &str) -> Self {
        match path {
            "/v1/health" | "/v1/shutdown" => Self::Daemon,
            "/v1/wait" | "/v1/messages/wait" | "/v1/events/follow" | "/v1/events/stream"
            | "/v1/tasks/wait" => Self::Wait,
            turn if turn.ends_with("/turn") => Self::Wait,
            "/v1/send" => Self::Send,
            messages if is_of_session(messages, "/messages") => Self::Send,
            "/v1/run" | "/v1/up" | "/v1/scale" | "/v1/resume" | "/v1/stop" | "/v1/adopt"
            | "/v1/interrupt" | "/v1/handoff" | "/v1/doctor" | "/v1/tasks/cancel"
            | "/v1/plans/cancel" | "/v1/reset" | "/v1/sweep" => Self::LongChange,
            cancel if cancel.starts_with("/v1/tasks/") && cancel.ends_with("/cancel") => {
                Self::LongChange
            }
            worktree if worktree.starts_with("/v1/worktrees/") => Self::LongChange,
            _ => Self::Short,
        }
    }

    /// Returns how long a request may continue after the daemon was asked to stop.
    fn grace(self) -> Duration {
        match self {
            Self::Wait => Duration::ZERO,
            _ => REQUEST_GRACE,
        }
    }

    /// Returns the error that ends a request when the daemon stops.
    fn ended(self) -> Error {
        let error = Error::unavailable("the daemon is stopping");
        match self {
            Self::Wait => error
                .caused_by("the wait was ended; agents go on")
                .hint("run the command again: it starts a new daemon"),
            Self::Send => error
                .caused_by("the daemon no longer waits for the delivery")
                .hint("run `segue messages` to see whether the message is queued"),
            Self::LongChange => error
                .caused_by("the request is not finished; agents go on")
                .hint("run `segue ls` to see what was begun, then run the command again"),
            Self::Daemon | Self::Short => {
                error.hint("run the command again: it starts a new daemon")
            }
        }
    }
}

fn is_of_session(path: &str, end: &str) -> bool {
    path.starts_with("/v1/sessions/") && path.ends_with(end)
}

/// Reads the whole request within a time limit, carries it out, and ends it if the daemon stops
/// meanwhile.
pub(crate) async fn bounded(State(app): State<App>, request: Request, next: Next) -> Response {
    let sort = Sort::of(request.uri().path());
    if sort == Sort::Daemon {
        return next.run(request).await;
    }
    if app.is_stopping() {
        return ErrorResponse(sort.ended()).into_response();
    }
    let out_of_time = async {
        app.stopping().await;
        sleep(sort.grace()).await;
    };
    tokio::select! {
        response = carry_out(sort, request, next) => response,
        () = out_of_time => ErrorResponse(sort.ended()).into_response(),
    }
}

async fn carry_out(sort: Sort, request: Request, next: Next) -> Response {
    let (limit, _permit) = match body_limit(&request) {
        Ok(limit) => limit,
        Err(error) => return ErrorResponse(error).into_response(),
    };
    let request = match read_body(request, limit).await {
        Ok(request) => request,
        Err(error) => return ErrorResponse(error).into_response(),
    };
    if sort != Sort::LongChange {
        return next.run(request).await;
    }
    // A task of its own, so that the request is completed even if the client disconnects.
    let failed = |error| Error::internal("a request failed inside the daemon").caused_by(error);
    match tokio::spawn(async move { next.run(request).await }).await {
        Ok(response) => response,
        Err(error) => ErrorResponse(failed(error)).into_response(),
    }
}

/// The largest request to log in. Everybody may send one.
const MAX_LOGIN_BYTES: usize = 4096;

/// A body of an unknown sender that is longer than this needs a permit.
const LARGE_DELIVERY_BYTES: u64 = 1 << 20;

/// At most this many large bodies of unknown senders are in memory at the same time.
static LARGE_DELIVERIES: Semaphore = Semaphore::const_new(8);

/// Returns the largest body of a request, and the permit for a large one. Deliveries are read before
/// their signature can be checked, so that they must not fill the memory.
fn body_limit(request: &Request) -> Result<(usize, Option<SemaphorePermit<'static>>)> {
    if request.uri().path() == "/v1/web/login" {
        return Ok((MAX_LOGIN_BYTES, None));
    }
    if !request.uri().path().starts_with("/webhooks/") {
        return Ok((MAX_REQUEST_BYTES, None));
    }
    let is_small = request.body().size_hint().exact().is_some_and(|it| it <= LARGE_DELIVERY_BYTES);
    if is_small {
        return Ok((MAX_DELIVERY_BYTES, None));
    }
    let permit = LARGE_DELIVERIES.try_acquire();
    let busy = |_| {
        Error::new(Kind::TooMany, "too many large deliveries at the same time")
            .hint("send it again later")
    };
    Ok((MAX_DELIVERY_BYTES, Some(permit.map_err(busy)?)))
}

/// Reads the body of a request. Fails if the body is too large or does not arrive in time.
async fn read_body(request: Request, max_bytes: usize) -> Result<Request> {
    let (parts, body) = request.into_parts();
    let unreadable = |cause: String| {
        let error = Error::usage("the request cannot be read").caused_by(cause);
        match max_bytes >> 20 {
            0 => error.hint(format!("this request has at most {max_bytes} bytes")),
            limit => {
                error.hint(format!("a request has at most {limit} MB: put a long text into a file"))
            }
        }
    };
    let announced = body.size_hint().lower();
    if announced > max_bytes as u64 {
        return Err(unreadable(format!("it has {announced} bytes")));
    }
    let bytes = match timeout(ARRIVAL_TIMEOUT, to_bytes(body, max_bytes)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => return Err(unreadable(error.to_string())),
        Err(_) => {
            let limit = ARRIVAL_TIMEOUT.as_secs();
            return Err(Error::unavailable(format!("the request did not arrive within {limit} s")));
        }
    };
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_has_its_sort_and_waits_get_no_grace_period() {
        let table = [
            ("/v1/health", Sort::Daemon),
            ("/v1/shutdown", Sort::Daemon),
            ("/v1/wait", Sort::Wait),
            ("/v1/events/follow", Sort::Wait),
            ("/v1/tasks/wait", Sort::Wait),
            ("/v1/tasks/cancel", Sort::LongChange),
            ("/v1/plans/cancel", Sort::LongChange),
            ("/v1/plans/apply", Sort::Short),
            ("/v1/tasks", Sort::Short),
            ("/v1/sessions/0198f9d2-0000-7000-8000-000000000001/turn", Sort::Wait),
            ("/v1/send", Sort::Send),
            ("/v1/sessions/0198f9d2-0000-7000-8000-000000000001/messages", Sort::Send),
            ("/v1/tasks/0198f9d2-0000-7000-8000-000000000001/cancel", Sort::LongChange),
            ("/v1/events/stream", Sort::Wait),
            ("/v1/up", Sort::LongChange),
            ("/v1/stop", Sort::LongChange),
            ("/v1/interrupt", Sort::LongChange),
            ("/v1/rename", Sort::Short),
            ("/v1/sessions", Sort::Short),
            ("/v1/events", Sort::Short),
        ];
        for (path, sort) in table {
            assert_eq!(Sort::of(path), sort, "{path}");
        }
        assert_eq!(Sort::Wait.grace(), Duration::ZERO);
    }
}
