//! A store that tells when something new is in its log, so that nobody has to ask again and again.

use std::path::Path;
use std::sync::Arc;

use segue_core::Result;
use segue_core::model::{
    Binding, Counts, Event, Fleet, FleetName, Handoff, Launch, Message, MessageId, RequestKey,
    RequestStep, Session, SessionId, Timer, Trust,
};
use segue_core::ports::{Commit, EventQuery, MessageQuery, SessionSummary, Store};
use tokio::sync::watch;

/// Wraps a store; every commit moves the cursor that followers wait for.
#[derive(Debug)]
pub(crate) struct TellingStore {
    inner: Arc<dyn Store>,
    cursor: watch::Sender<i64>,
}

impl TellingStore {
    pub(crate) fn new(inner: Arc<dyn Store>) -> (Arc<Self>, watch::Receiver<i64>) {
        let (cursor, receiver) = watch::channel(0);
        (Arc::new(Self { inner, cursor }), receiver)
    }
}

#[async_trait::async_trait]
impl Store for TellingStore {
    async fn commit(&self, commit: Commit) -> Result<i64> {
        let cursor = self.inner.commit(commit).await?;
        self.cursor.send_if_modified(|known| std::mem::replace(known, cursor) != cursor);
        Ok(cursor)
    }

    async fn session(&self, id: SessionId) -> Result<Option<Session>> {
        self.inner.session(id).await
    }

    async fn sessions(&self) -> Result<Vec<SessionSummary>> {
        self.inner.sessions().await
    }

    async fn launches(&self, session: SessionId) -> Result<Vec<Launch>> {
        self.inner.launches(session).await
    }

    async fn open_launches(&self) -> Result<Vec<Launch>> {
        self.inner.open_launches().await
    }

    async fn bindings(&self, session: SessionId) -> Result<Vec<Binding>> {
        self.inner.bindings(session).await
    }

    async fn events(&self, query: &EventQuery) -> Result<Vec<Event>> {
        self.inner.events(query).await
    }

    async fn fleet(&self, name: &FleetName) -> Result<Option<Fleet>> {
        self.inner.fleet(name).await
    }

    async fn fleets_of(&self, folder: &Path) -> Result<Vec<Fleet>> {
        self.inner.fleets_of(folder).await
    }

    async fn counts(&self, fleet: &FleetName) -> Result<Counts> {
        self.inner.counts(fleet).await
    }

    async fn timers(&self, session: SessionId) -> Result<Vec<Timer>> {
        self.inner.timers(session).await
    }

    async fn handoffs(&self, session: SessionId) -> Result<Vec<Handoff>> {
        self.inner.handoffs(session).await
    }

    async fn all_handoffs(&self) -> Result<Vec<Handoff>> {
        self.inner.all_handoffs().await
    }

    async fn trust(&self, folder: &Path) -> Result<Option<Trust>> {
        self.inner.trust(folder).await
    }

    async fn message(&self, id: MessageId) -> Result<Option<Message>> {
        self.inner.message(id).await
    }

    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Message>> {
        self.inner.messages(query).await
    }

    async fn request(&self, key: RequestKey) -> Result<Vec<RequestStep>> {
        self.inner.request(key).await
    }
}
