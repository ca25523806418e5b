//! Passes recorded events on to the clients that wait for them. One task reads each new event from
//! the store once, however many clients wait.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use segue_core::Result;
use segue_core::model::{Event, EventKind, EventPayload, SessionId};
use segue_core::ports::{Commit, EventQuery, Ports};
use tokio::sync::broadcast;
use tokio::time::sleep;

use crate::metrics::Metrics;

/// So many events are held for clients that have not taken them. A client that is further behind
/// reads them from the store.
const HELD_EVENTS: usize = 1024;

/// At most this many events are read from the store at once.
pub(crate) const MAX_EVENTS_PER_READ: u32 = 1000;

/// The pause after an error of the store.
const RETRY: Duration = Duration::from_secs(1);

/// An event as it is sent to clients.
#[derive(Clone, Debug)]
pub(crate) struct FedEvent {
    pub(crate) seq: i64,
    pub(crate) session: Option<SessionId>,
    pub(crate) kind: EventKind,
    /// A line of JSON.
    pub(crate) line: Bytes,
    /// The same as a server-sent event.
    pub(crate) message: Bytes,
}

impl FedEvent {
    pub(crate) fn new(event: &Event) -> Self {
        let kind = event.fact.payload.kind();
        let json = serde_json::to_string(event).unwrap_or_default();
        let mut message = String::with_capacity(json.len() + 64);
        // Writing into a string cannot fail.
        let _written =
            write!(message, "id: {}\nevent: {}\ndata: {json}\n\n", event.seq, kind.word());
        Self {
            seq: event.seq,
            session: event.fact.session,
            kind,
            line: Bytes::from(json + "\n"),
            message: Bytes::from(message),
        }
    }
}

/// The new events of this daemon.
#[derive(Clone, Debug)]
pub(crate) struct EventFeed(broadcast::Sender<Arc<FedEvent>>);

impl Default for EventFeed {
    fn default() -> Self {
        Self(broadcast::Sender::new(HELD_EVENTS))
    }
}

impl EventFeed {
    /// Returns the events that are recorded from now on. A subscriber that has to know all events
    /// reads the store after this call, and ignores the events that it has read there.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<FedEvent>> {
        self.0.subscribe()
    }

    /// Passes events on as long as the daemon runs. Also counts what the metrics show of them.
    pub(crate) async fn run(self, ports: Ports, metrics: Arc<Metrics>) {
        loop {
            let Err(error) = self.pass_on(&ports, &metrics).await;
            tracing::warn!(%error, "new events cannot be read");
            sleep(RETRY).await;
        }
    }

    async fn pass_on(&self, ports: &Ports, metrics: &Metrics) -> Result<Infallible> {
        // An empty commit returns the sequence number of the last event.
        let mut after = ports.store.commit(Commit::default()).await?;
        loop {
            ports.store.wait_for_events(after).await?;
            let limit = MAX_EVENTS_PER_READ;
            let query = EventQuery { after, limit, ..EventQuery::default() };
            for event in &ports.store.events(&query).await? {
                after = event.seq;
                if let EventPayload::MessageDelivered { message } = &event.fact.payload
                    && let Some(message) = ports.store.message(*message).await?
                {
                    let waited = event.fact.at.duration_since(message.created_at);
                    metrics.message_delivered(waited.try_into().unwrap_or_default());
                }
                if self.0.receiver_count() > 0 {
                    // It fails if the last receiver has just gone.
                    let _receivers = self.0.send(Arc::new(FedEvent::new(event)));
                }
            }
        }
    }
}
