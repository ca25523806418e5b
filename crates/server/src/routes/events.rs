//! Returns recorded events, and streams new events.

use std::convert::Infallible;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use segue_core::Result;
use segue_core::api::{EventsQuery, FROM_NOW};
use segue_core::model::{Event, Principal};
use segue_core::ports::{Commit, EventQuery};
use segue_core::rules::scope::RestrictedAction;
use serde_json::json;
use tokio::sync::mpsc;

use super::description::{DescribedAnswer, OperationDraft};
use super::inputs::QueryValues;
use super::{Admitted, App, ErrorResponse, RouteResult};
use crate::supervisor::Supervisor;

/// At most this many events are read from the store at once.
const MAX_EVENTS_PER_READ: u32 = 1000;

pub(crate) async fn list(
    Admitted { supervisor, principal }: Admitted,
    QueryValues(query): QueryValues<EventsQuery>,
) -> RouteResult<Vec<Event>> {
    let query = allowed(&supervisor, &principal, query.parse()?).await?;
    Ok(Json(supervisor.ports.store.events(&query).await?))
}

pub(crate) async fn follow(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    QueryValues(query): QueryValues<EventsQuery>,
) -> std::result::Result<EventLines, ErrorResponse> {
    let mut query = allowed(&supervisor, &principal, query.parse()?).await?;
    if query.after == FROM_NOW {
        // An empty commit returns the sequence number of the last event.
        query.after = supervisor.ports.store.commit(Commit::default()).await?;
    }
    let (sender, receiver) = mpsc::channel(64);
    tokio::spawn(async move {
        // An error here has no receiver: the client has disconnected, or the daemon stops.
        let _ended = send_all(&app, query, &sender).await;
    });
    Ok(EventLines(receiver))
}

/// Restricts a query to the sessions that the caller may read. An agent reads its own events, and
/// those of its children if the query names them.
async fn allowed(
    supervisor: &Supervisor,
    principal: &Principal,
    query: EventQuery,
) -> Result<EventQuery> {
    match principal {
        Principal::Agent(own) if query.sessions.is_empty() => {
            return Ok(EventQuery { sessions: vec![own.id], ..query });
        }
        _ if query.sessions.is_empty() => principal.allow(RestrictedAction::ReadAll)?,
        _ => {}
    }
    for id in &query.sessions {
        let session = supervisor.ports.store.session(*id).await?;
        principal.allow_session(*id, session.and_then(|session| session.parent))?;
    }
    Ok(query)
}

/// Sends the recorded events, then waits for new events and sends them.
async fn send_all(app: &App, mut query: EventQuery, sender: &mpsc::Sender<Bytes>) -> Result<()> {
    let supervisor = app.ready().await?;
    // The newest event of any session. `query.after` can be smaller, because the query may exclude
    // sessions.
    let mut newest = 0;
    loop {
        query = EventQuery { limit: MAX_EVENTS_PER_READ, newest: false, ..query };
        let events = supervisor.ports.store.events(&query).await?;
        for event in &events {
            query.after = event.seq;
            let mut line = serde_json::to_vec(event).unwrap_or_default();
            line.push(b'\n');
            if sender.send(line.into()).await.is_err() {
                return Ok(());
            }
        }
        if !events.is_empty() {
            continue;
        }
        tokio::select! {
            waited = supervisor.ports.store.wait_for_events(newest) => newest = waited?,
            () = app.stopping() => return Ok(()),
            () = sender.closed() => return Ok(()),
        }
    }
}

/// A response body with a line of JSON for each event.
#[derive(Debug)]
pub(crate) struct EventLines(mpsc::Receiver<Bytes>);

impl IntoResponse for EventLines {
    fn into_response(self) -> Response {
        Response::new(Body::from_stream(self))
    }
}

impl DescribedAnswer for EventLines {
    fn describe(draft: &mut OperationDraft<'_>) {
        let schema = draft.schemas.answers.subschema_for::<Event>();
        let content = json!({ "application/x-ndjson": { "schema": schema } });
        draft.respond(200, "an event in each line", &content);
    }
}

impl futures_core::Stream for EventLines {
    type Item = std::result::Result<Bytes, Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|line| line.map(Ok))
    }
}
