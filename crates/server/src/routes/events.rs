//! The log: what happened, and what happens.

use std::convert::Infallible;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::response::Response;
use segue_core::Result;
use segue_core::model::{Event, SessionId};
use segue_core::ports::{Commit, EventQuery};
use segue_core::rules::scope::Scope;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::{Answer, App, Caller, Refusal};
use crate::supervisor::Supervisor;

const AT_ONCE: u32 = 1000;

/// In place of a sequence number: only what happens from now on.
pub(crate) const FROM_NOW: i64 = -1;

/// Which events.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct EventsQuery {
    pub(crate) session: Option<SessionId>,
    pub(crate) after: i64,
    pub(crate) limit: u32,
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<EventsQuery>,
) -> Answer<Vec<Event>> {
    let supervisor = app.ready().await?;
    let EventsQuery { session, after, limit } = allowed(&supervisor, caller, query).await?;
    Ok(Json(supervisor.ports.store.events(&EventQuery { after, session, limit }).await?))
}

pub(crate) async fn follow(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<EventsQuery>,
) -> std::result::Result<Response, Refusal> {
    let supervisor = app.ready().await?;
    let mut query = allowed(&supervisor, caller, query).await?;
    if query.after == FROM_NOW {
        // A commit of nothing returns the end of the log.
        query.after = supervisor.ports.store.commit(Commit::default()).await?;
    }
    let (sender, receiver) = mpsc::channel(64);
    tokio::spawn(async move {
        // The reader went away, or the daemon ends: either way there is nobody to tell.
        let _ended = send_all(&app, query, &sender).await;
    });
    Ok(Response::new(Body::from_stream(Lines(receiver))))
}

/// An agent reads its own log, and its children's when it names them.
async fn allowed(
    supervisor: &Supervisor,
    caller: Caller,
    query: EventsQuery,
) -> Result<EventsQuery> {
    match (caller.scope(supervisor).await?, query.session) {
        (Scope::Person, _) => Ok(query),
        (Scope::Agent(own), None) => Ok(EventsQuery { session: Some(own.id), ..query }),
        (scope, Some(id)) => {
            let session = supervisor.ports.store.session(id).await?;
            scope.allow_session(id, session.and_then(|session| session.parent))?;
            Ok(query)
        }
    }
}

/// Sends what is in the log, then waits for what comes.
async fn send_all(app: &App, mut query: EventsQuery, sender: &mpsc::Sender<Bytes>) -> Result<()> {
    let supervisor = app.ready().await?;
    let mut cursor = app.cursor();
    loop {
        cursor.mark_unchanged();
        let EventsQuery { session, after, .. } = query;
        let batch = EventQuery { after, session, limit: AT_ONCE };
        let events = supervisor.ports.store.events(&batch).await?;
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
            changed = cursor.changed() => if changed.is_err() { return Ok(()) },
            () = app.stopping() => return Ok(()),
            () = sender.closed() => return Ok(()),
        }
    }
}

struct Lines(mpsc::Receiver<Bytes>);

impl futures_core::Stream for Lines {
    type Item = std::result::Result<Bytes, Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|line| line.map(Ok))
    }
}
