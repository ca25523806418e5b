//! The log: what happened, and what happens.

use std::convert::Infallible;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::response::Response;
use segue_core::model::{Event, SessionId};
use segue_core::ports::{Commit, EventQuery};
use segue_core::rules::scope::Scope;
use segue_core::{Error, Result};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::{Answer, App, Caller, Refusal};
use crate::supervisor::Supervisor;

const AT_ONCE: u32 = 1000;

/// In place of a sequence number: only what happens from now on.
pub(crate) const FROM_NOW: i64 = -1;

/// Which events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EventsQuery {
    /// Ids with commas between them; the events of all sessions if there are none.
    sessions: String,
    after: i64,
    limit: u32,
    newest: bool,
}

impl EventsQuery {
    pub(crate) fn new(query: &EventQuery) -> Self {
        let EventQuery { after, sessions, limit, newest } = query;
        let ids: Vec<String> = sessions.iter().map(SessionId::to_string).collect();
        Self { sessions: ids.join(","), after: *after, limit: *limit, newest: *newest }
    }

    fn read(&self) -> Result<EventQuery> {
        let ids = self.sessions.split(',').filter(|id| !id.is_empty());
        let read = |id: &str| {
            id.parse::<SessionId>().map_err(|error| {
                Error::usage(format!("`{id}` is not a session id")).caused_by(error)
            })
        };
        let sessions = ids.map(read).collect::<Result<_>>()?;
        let Self { after, limit, newest, .. } = *self;
        Ok(EventQuery { after, sessions, limit, newest })
    }
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<EventsQuery>,
) -> Answer<Vec<Event>> {
    let supervisor = app.ready().await?;
    let query = allowed(&supervisor, caller, query.read()?).await?;
    Ok(Json(supervisor.ports.store.events(&query).await?))
}

pub(crate) async fn follow(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<EventsQuery>,
) -> std::result::Result<Response, Refusal> {
    let supervisor = app.ready().await?;
    let mut query = allowed(&supervisor, caller, query.read()?).await?;
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
async fn allowed(supervisor: &Supervisor, caller: Caller, query: EventQuery) -> Result<EventQuery> {
    let scope = caller.scope(supervisor).await?;
    match &scope {
        Scope::Person => return Ok(query),
        Scope::Agent(own) if query.sessions.is_empty() => {
            return Ok(EventQuery { sessions: vec![own.id], ..query });
        }
        Scope::Agent(_) => {}
    }
    for id in &query.sessions {
        let session = supervisor.ports.store.session(*id).await?;
        scope.allow_session(*id, session.and_then(|session| session.parent))?;
    }
    Ok(query)
}

/// Sends what is in the log, then waits for what comes.
async fn send_all(app: &App, mut query: EventQuery, sender: &mpsc::Sender<Bytes>) -> Result<()> {
    let supervisor = app.ready().await?;
    let mut cursor = app.cursor();
    loop {
        cursor.mark_unchanged();
        query = EventQuery { limit: AT_ONCE, newest: false, ..query };
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
