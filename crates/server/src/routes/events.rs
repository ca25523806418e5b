//! Returns recorded events, and streams new events.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use segue_core::api::{EventStreamQuery, EventsQuery, FROM_NOW};
use segue_core::flows::tokens;
use segue_core::model::{AccessToken, Event, EventKind, Principal};
use segue_core::ports::{Commit, EventQuery};
use segue_core::rules::listening;
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result};
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tokio::time::Instant;

use super::access_life::until;
use super::description::{DescribedAnswer, OperationDraft};
use super::inputs::QueryValues;
use super::{Admitted, App, ErrorResponse, PeerInfo, RouteResult};
use crate::event_feed::{FedEvent, MAX_EVENTS_PER_READ};
use crate::supervisor::Supervisor;

/// How many events wait for a client that does not read.
const WAITING_EVENTS: usize = 64;

/// A stream without events over a network sends a comment after this time, so that the client notices
/// a broken connection.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The header with the cursor of a client that connects again.
const LAST_EVENT_ID: &str = "last-event-id";

pub(crate) async fn list(
    Admitted { supervisor, principal }: Admitted,
    QueryValues(query): QueryValues<EventsQuery>,
) -> RouteResult<Vec<Event>> {
    let mut query = allowed(&supervisor, &principal, query.parse()?).await?;
    query.limit = query.limit.min(MAX_EVENTS_PER_READ * 100);
    Ok(Json(supervisor.ports.store.events(&query).await?))
}

pub(crate) async fn follow(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    QueryValues(query): QueryValues<EventsQuery>,
) -> std::result::Result<EventLines, ErrorResponse> {
    let query = allowed(&supervisor, &principal, query.parse()?).await?;
    let request = StreamRequest { query, kinds: BTreeSet::new(), format: StreamFormat::Lines };
    Ok(EventLines(open(app, &supervisor, principal, request).await?))
}

/// Streams events as server-sent events. The sequence number of an event is its id.
pub(crate) async fn stream(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    ConnectInfo(peer): ConnectInfo<PeerInfo>,
    headers: HeaderMap,
    QueryValues(query): QueryValues<EventStreamQuery>,
) -> std::result::Result<ServerSentEvents, ErrorResponse> {
    let EventStreamQuery { after, sessions, kinds } = query;
    let after = match headers.get(LAST_EVENT_ID) {
        Some(last) => Some(parse_last(last.to_str().unwrap_or_default())?),
        None => after,
    };
    let kinds = parse_kinds(kinds.as_deref().unwrap_or_default())?;
    let query = EventsQuery::following(sessions, after.unwrap_or(FROM_NOW)).parse()?;
    let query = allowed(&supervisor, &principal, query).await?;
    let has_heartbeat = match &peer {
        PeerInfo::Network(peer) => listening::can_break_silently(&peer.settings),
        PeerInfo::Process(_) => false,
    };
    let format = StreamFormat::ServerSent { has_heartbeat };
    let request = StreamRequest { query, kinds, format };
    Ok(ServerSentEvents(open(app, &supervisor, principal, request).await?))
}

fn parse_last(text: &str) -> Result<i64> {
    text.parse().map_err(|error| {
        Error::usage(format!("the header `{LAST_EVENT_ID}` must be a sequence number"))
            .caused_by(error)
    })
}

fn parse_kinds(text: &str) -> Result<BTreeSet<&'static str>> {
    let parse = |word: &str| {
        EventKind::from_word(word).map(EventKind::word).ok_or_else(|| {
            let shown: String = word.chars().take(40).collect();
            Error::usage(format!("`{}` is not a kind of event", shown.escape_debug()))
                .hint("`GET /v1/openapi.json` lists all kinds as `EventKind`")
        })
    };
    text.split(',').filter(|word| !word.is_empty()).map(parse).collect()
}

/// Restricts a query to the sessions that the caller may read. An agent reads its own events, and
/// those of its children if the query names them. A link to a session shows the events of that
/// session.
async fn allowed(
    supervisor: &Supervisor,
    principal: &Principal,
    query: EventQuery,
) -> Result<EventQuery> {
    match principal {
        Principal::Agent(own) if query.sessions.is_empty() => {
            return Ok(EventQuery { sessions: vec![own.id], ..query });
        }
        Principal::Token(AccessToken { only_session: Some(only), .. })
            if query.sessions.is_empty() =>
        {
            return Ok(EventQuery { sessions: vec![*only], ..query });
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

/// The events that a client wants, and how.
#[derive(Debug)]
struct StreamRequest {
    query: EventQuery,
    /// The words of the kinds. If empty, all kinds.
    kinds: BTreeSet<&'static str>,
    format: StreamFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamFormat {
    Lines,
    ServerSent { has_heartbeat: bool },
}

/// Starts a stream. It ends if the client disconnects, if the daemon stops, or if the token of the
/// client is not valid any more.
async fn open(
    app: App,
    supervisor: &Arc<Supervisor>,
    principal: Principal,
    mut request: StreamRequest,
) -> Result<mpsc::Receiver<Bytes>> {
    // Before the store is read, so that no event is missed in between.
    let feed = app.events.subscribe();
    let newest = supervisor.ports.store.commit(Commit::default()).await?;
    if request.query.after == FROM_NOW {
        request.query.after = newest;
    }
    let (sender, receiver) = mpsc::channel(WAITING_EVENTS);
    let supervisor = Arc::clone(supervisor);
    tokio::spawn(async move {
        let quiet_since = Instant::now();
        let mut stream = EventSender { supervisor, feed, principal, request, sender, quiet_since };
        tokio::select! {
            // An error has no receiver: the client has disconnected, or the daemon stops.
            _ended = stream.send_all() => {}
            () = app.stopping() => {}
        }
    });
    Ok(receiver)
}

/// Sends events to one client.
struct EventSender {
    supervisor: Arc<Supervisor>,
    feed: broadcast::Receiver<Arc<FedEvent>>,
    principal: Principal,
    request: StreamRequest,
    sender: mpsc::Sender<Bytes>,
    /// When the client was last sent something.
    quiet_since: Instant,
}

/// Why a stream ends.
#[derive(Clone, Copy, Debug)]
struct StreamEnd;

impl EventSender {
    /// Sends the recorded events, then waits for new events and sends them.
    async fn send_all(&mut self) -> std::result::Result<(), StreamEnd> {
        let mut expiry = self.expiry().await?;
        if self.request.format != StreamFormat::Lines {
            self.send(Bytes::from_static(b": events of Segue\n\n")).await?;
        }
        self.send_recorded().await?;
        loop {
            let heartbeat = self.next_heartbeat();
            tokio::select! {
                fed = self.feed.recv() => match fed {
                    Ok(event) => self.send_new(&event).await?,
                    // The client is slow. The store has what it has missed.
                    Err(RecvError::Lagged(_)) => self.send_recorded().await?,
                    Err(RecvError::Closed) => return Err(StreamEnd),
                },
                () = until(heartbeat) => {
                    self.send(Bytes::from_static(b": heartbeat\n\n")).await?;
                }
                // The end of a token moves when the token is used.
                () = until(expiry) => expiry = self.expiry().await?,
                () = self.sender.closed() => return Err(StreamEnd),
            }
        }
    }

    /// Returns when the client must be sent something. `None` if nothing has to be sent.
    fn next_heartbeat(&self) -> Option<Instant> {
        let has_heartbeat =
            matches!(self.request.format, StreamFormat::ServerSent { has_heartbeat: true });
        has_heartbeat.then(|| self.quiet_since + HEARTBEAT)
    }

    /// Sends the events that the store has.
    async fn send_recorded(&mut self) -> std::result::Result<(), StreamEnd> {
        loop {
            self.expiry().await?;
            let query = &mut self.request.query;
            (query.limit, query.newest) = (MAX_EVENTS_PER_READ, false);
            let events = self.supervisor.ports.store.events(query).await.map_err(|_| StreamEnd)?;
            if events.is_empty() {
                return Ok(());
            }
            for event in &events {
                self.request.query.after = event.seq;
                self.send_event(&FedEvent::new(event)).await?;
            }
        }
    }

    async fn send_new(&mut self, event: &FedEvent) -> std::result::Result<(), StreamEnd> {
        if event.kind == EventKind::TokenRevoked {
            self.expiry().await?;
        }
        let StreamRequest { query, .. } = &self.request;
        let is_known = event.seq <= query.after;
        let is_meant = query.sessions.is_empty()
            || event.session.is_some_and(|session| query.sessions.contains(&session));
        if is_known || !is_meant {
            return Ok(());
        }
        self.request.query.after = event.seq;
        self.send_event(event).await
    }

    async fn send_event(&mut self, event: &FedEvent) -> std::result::Result<(), StreamEnd> {
        let kinds = &self.request.kinds;
        if !kinds.is_empty() && !kinds.contains(event.kind.word()) {
            return Ok(());
        }
        let bytes = match self.request.format {
            StreamFormat::Lines => &event.line,
            StreamFormat::ServerSent { .. } => &event.message,
        };
        self.send(bytes.clone()).await
    }

    async fn send(&mut self, bytes: Bytes) -> std::result::Result<(), StreamEnd> {
        self.sender.send(bytes).await.map_err(|_| StreamEnd)?;
        self.quiet_since = Instant::now();
        Ok(())
    }

    /// Returns when the token of the client expires. Fails if the token is not valid any more.
    async fn expiry(&self) -> std::result::Result<Option<Instant>, StreamEnd> {
        let Principal::Token(token) = &self.principal else { return Ok(None) };
        let left = tokens::time_left(&self.supervisor.ports, token.id).await;
        let left = left.map_err(|_| StreamEnd)?;
        Ok(left.and_then(|left| Instant::now().checked_add(left)))
    }
}

/// A response body with a line of JSON for each event.
#[derive(Debug)]
pub(crate) struct EventLines(mpsc::Receiver<Bytes>);

impl IntoResponse for EventLines {
    fn into_response(self) -> Response {
        Response::new(Body::from_stream(EventBody(self.0)))
    }
}

impl DescribedAnswer for EventLines {
    fn describe(draft: &mut OperationDraft<'_>) {
        let schema = draft.schemas.answers.subschema_for::<Event>();
        let content = json!({ "application/x-ndjson": { "schema": schema } });
        draft.respond(200, "an event in each line", &content);
    }
}

/// A response body with a server-sent event for each event.
#[derive(Debug)]
pub(crate) struct ServerSentEvents(mpsc::Receiver<Bytes>);

impl IntoResponse for ServerSentEvents {
    fn into_response(self) -> Response {
        let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")];
        (headers, Body::from_stream(EventBody(self.0))).into_response()
    }
}

impl DescribedAnswer for ServerSentEvents {
    fn describe(draft: &mut OperationDraft<'_>) {
        draft.parameters.push(json!({
            "name": "Last-Event-ID",
            "in": "header",
            "description": "The id of the last event that the client has got. It replaces `after`.",
            "schema": { "type": "integer" },
        }));
        let content = json!({ "text/event-stream": { "schema": { "type": "string" } } });
        let description = "server-sent events: `id` is the sequence number, `event` the kind, and \
            `data` an `Event` as JSON; over a network, a comment every 15 seconds without events";
        draft.respond(200, description, &content);
    }
}

/// The bytes of a response body.
struct EventBody(mpsc::Receiver<Bytes>);

impl futures_core::Stream for EventBody {
    type Item = std::result::Result<Bytes, Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|line| line.map(Ok))
    }
}
