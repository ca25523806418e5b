//! The store as others see it; behind it one thread owns the connection.

use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use async_trait::async_trait;
use rusqlite::Connection;
use segue_core::model::{
    Binding, Counts, Event, Fleet, FleetName, Handoff, Launch, Message, MessageId, RequestKey,
    RequestStep, Session, SessionId, Timer, Trust,
};
use segue_core::ports::{Commit, EventQuery, MessageQuery, SessionSummary, Store};
use segue_core::{Error, Result};
use tokio::sync::oneshot;

use crate::backup::Keeper;
use crate::database::Database;
use crate::fault::Fault;
use crate::{opening, read, write};

type Request = Box<dyn FnOnce(&mut Database) + Send>;

/// A store in one SQLite file. Dropping it finishes what was asked, and closes the file.
#[derive(Debug)]
pub struct SqliteStore {
    requests: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
    backup: Option<Keeper>,
}

impl SqliteStore {
    /// Opens the database at a path, making one where there is none.
    pub async fn open(path: &Path) -> Result<Self> {
        let (requests, inbox) = mpsc::channel();
        let (ready, opened) = oneshot::channel();
        let path = path.to_owned();
        let thread = thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || serve(&path, ready, &inbox))
            .map_err(|error| {
                Error::unavailable("cannot start the store's thread").caused_by(error)
            })?;
        opened.await.unwrap_or_else(|_| Err(stopped()))?;
        Ok(Self { requests: Some(requests), thread: Some(thread), backup: None })
    }

    /// Keeps a backup beside the database from now on.
    pub(crate) fn backed_up(mut self, path: &Path) -> Result<Self> {
        let keeper = Keeper::start(path).map_err(|error| {
            Error::unavailable("cannot start the thread of the store's backup").caused_by(error)
        })?;
        self.backup = Some(keeper);
        Ok(self)
    }

    /// Has the thread do something with the database, and waits for the answer.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Database) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let request: Request = Box::new(move |database| {
            let result = work(database).map_err(|fault| fault.told(database.path()));
            // Nobody listens any more when the caller was cancelled; what was done stays done.
            drop(reply.send(result));
        });
        let requests = self.requests.as_ref().ok_or_else(stopped)?;
        requests.send(request).map_err(|_| stopped())?;
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }

    async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.ask(move |database| Ok(question(&database.connection)?)).await
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        drop(self.backup.take());
        drop(self.requests.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to close.
            drop(thread.join());
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn commit(&self, commit: Commit) -> Result<i64> {
        let is_empty = commit.changes.is_empty() && commit.events.is_empty();
        let cursor = self.ask(move |database| write::commit(database, &commit)).await?;
        if let Some(backup) = self.backup.as_ref().filter(|_| !is_empty) {
            backup.committed();
        }
        Ok(cursor)
    }

    async fn session(&self, id: SessionId) -> Result<Option<Session>> {
        self.read(move |connection| read::session(connection, id)).await
    }

    async fn sessions(&self) -> Result<Vec<SessionSummary>> {
        self.read(read::sessions).await
    }

    async fn launches(&self, session: SessionId) -> Result<Vec<Launch>> {
        self.read(move |connection| read::launches(connection, session)).await
    }

    async fn open_launches(&self) -> Result<Vec<Launch>> {
        self.read(read::open_launches).await
    }

    async fn bindings(&self, session: SessionId) -> Result<Vec<Binding>> {
        self.read(move |connection| read::bindings(connection, session)).await
    }

    async fn events(&self, query: &EventQuery) -> Result<Vec<Event>> {
        let query = query.clone();
        self.read(move |connection| read::events(connection, &query)).await
    }

    async fn fleet(&self, name: &FleetName) -> Result<Option<Fleet>> {
        let name = name.clone();
        self.read(move |connection| read::fleet(connection, &name)).await
    }

    async fn fleets_of(&self, folder: &Path) -> Result<Vec<Fleet>> {
        let folder = folder.to_owned();
        self.read(move |connection| read::fleets_of(connection, &folder)).await
    }

    async fn counts(&self, fleet: &FleetName) -> Result<Counts> {
        let fleet = fleet.clone();
        self.read(move |connection| read::counts(connection, &fleet)).await
    }

    async fn timers(&self, session: SessionId) -> Result<Vec<Timer>> {
        self.read(move |connection| read::timers(connection, session)).await
    }

    async fn handoffs(&self, session: SessionId) -> Result<Vec<Handoff>> {
        self.read(move |connection| read::handoffs(connection, session)).await
    }

    async fn all_handoffs(&self) -> Result<Vec<Handoff>> {
        self.read(read::all_handoffs).await
    }

    async fn trust(&self, folder: &Path) -> Result<Option<Trust>> {
        let folder = folder.to_owned();
        self.read(move |connection| read::trust(connection, &folder)).await
    }

    async fn message(&self, id: MessageId) -> Result<Option<Message>> {
        self.read(move |connection| read::message(connection, id)).await
    }

    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Message>> {
        let query = *query;
        self.read(move |connection| read::messages(connection, &query)).await
    }

    async fn request(&self, key: RequestKey) -> Result<Vec<RequestStep>> {
        self.read(move |connection| read::request(connection, key)).await
    }
}

fn serve(path: &Path, ready: oneshot::Sender<Result<()>>, inbox: &mpsc::Receiver<Request>) {
    match opening::open(path) {
        Ok(mut database) => {
            if ready.send(Ok(())).is_ok() {
                inbox.iter().for_each(|request| request(&mut database));
            }
        }
        // Nobody listens any more when the caller was cancelled.
        Err(error) => drop(ready.send(Err(error))),
    }
}

fn stopped() -> Error {
    Error::unavailable("the store has stopped")
        .hint("run `segue daemon stop` and then `segue daemon start`")
}
