//! The `Store` port on SQLite. One thread owns the connection.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use async_trait::async_trait;
use rusqlite::Connection;
use segue_core::model::{
    AgentReport, AgentWorktree, Binding, ChildReport, Counts, DailyUsage, Delivery, DeliveryId,
    DeliverySummary, DurationHistogram, Event, ExchangedMessage, Fleet, FleetName, ForgeReply,
    Handoff, HousekeepingState, IssueKey, IssueRef, Launch, LaunchIndexEntry, ListenSettings,
    MachineId, Message, MessageId, Plan, PlanTask, PolledRepository, RepositoryId, RequestKey,
    RequestStep, Session, SessionId, SourceName, StatusKind, StoredToken, StoredUsageCursor, Timer,
    TrackedIssue, Trust, VendorId, WorkRef,
};
use segue_core::ports::{
    AgentReportQuery, Commit, DeliveryQuery, EventQuery, MessageQuery, PlacedTask, PlanQuery,
    PlanTaskQuery, SessionQuery, SessionSummary, Store, TaskQuery, TaskSummary, UsageQuery,
    VendorPlace, WorktreeQuery,
};
use segue_core::{Error, Result};
use tokio::sync::{oneshot, watch};

use crate::sqlite::backup::BackupThread;
use crate::sqlite::database::Database;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::{
    deliveries, housekeeping, network, opening, plans, read, sessions, tasks, usage, write,
};

/// The most commits that are written in one transaction.
const MAX_COMMITS_TOGETHER: usize = 64;

/// Work for the thread of the database.
enum Request {
    /// Commits that wait at the same time are written in one transaction.
    Commit(PendingCommit),
    Other(Box<dyn FnOnce(&mut Database) + Send>),
}

/// A commit, and who waits for its result.
struct PendingCommit {
    commit: Commit,
    reply: oneshot::Sender<Result<i64>>,
}

/// A store in one SQLite file. Dropping it completes the pending requests and closes the file.
#[derive(Debug)]
pub struct SqliteStore {
    requests: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
    backup: Option<BackupThread>,
    /// The sequence number of the newest event.
    newest_event: watch::Sender<i64>,
    commit_times: Mutex<DurationHistogram>,
}

impl SqliteStore {
    /// Opens the database at a path. Creates it if it does not exist.
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
        let newest = opened.await.unwrap_or_else(|_| Err(stopped()))?;
        let (newest_event, _) = watch::channel(newest);
        Ok(Self {
            requests: Some(requests),
            thread: Some(thread),
            backup: None,
            newest_event,
            commit_times: Mutex::default(),
        })
    }

    /// Starts to back up the database.
    pub(crate) fn backed_up(mut self, path: &Path) -> Result<Self> {
        let thread = BackupThread::start(path).map_err(|error| {
            Error::unavailable("cannot start the thread of the store's backup").caused_by(error)
        })?;
        self.backup = Some(thread);
        Ok(self)
    }

    /// Runs a function on the database in its thread, and waits for the result.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Database) -> Result<T, SqliteFault> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let request = Request::Other(Box::new(move |database| {
            let result = work(database).map_err(|fault| fault.into_error(database.path()));
            // The receiver is gone if the caller was cancelled. The changes are kept.
            drop(reply.send(result));
        }));
        self.send(request)?;
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }

    fn send(&self, request: Request) -> Result<()> {
        let requests = self.requests.as_ref().ok_or_else(stopped)?;
        requests.send(request).map_err(|_| stopped())
    }

    async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.run(move |database| Ok(query(&database.connection)?)).await
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
        let begun = Instant::now();
        let (reply, answer) = oneshot::channel();
        self.send(Request::Commit(PendingCommit { commit, reply }))?;
        let last_event = answer.await.unwrap_or_else(|_| Err(stopped()))?;
        if !is_empty {
            let mut times = self.commit_times.lock().unwrap_or_else(PoisonError::into_inner);
            times.observe(begun.elapsed());
        }
        if let Some(backup) = self.backup.as_ref().filter(|_| !is_empty) {
            backup.committed();
        }
        self.newest_event.send_if_modified(|newest| {
            let is_newer = last_event > *newest;
            *newest = last_event.max(*newest);
            is_newer
        });
        Ok(last_event)
    }

    async fn session(&self, id: SessionId) -> Result<Option<Session>> {
        self.read(move |connection| read::session(connection, id)).await
    }

    async fn sessions(&self, query: &SessionQuery) -> Result<Vec<SessionSummary>> {
        let query = query.clone();
        self.read(move |connection| sessions::list(connection, &query)).await
    }

    async fn count_sessions(&self, query: &SessionQuery) -> Result<u32> {
        let query = query.clone();
        self.read(move |connection| sessions::count(connection, &query)).await
    }

    async fn count_statuses(&self) -> Result<Vec<(StatusKind, u64)>> {
        let counted = self.read(sessions::count_statuses).await?;
        Ok(counted.into_iter().map(|(status, count)| (status.kind(), count)).collect())
    }

    fn commit_times(&self) -> DurationHistogram {
        self.commit_times.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn resting_places(&self, limit: u32) -> Result<Vec<VendorPlace>> {
        self.read(move |connection| sessions::resting_places(connection, limit)).await
    }

    async fn vendor_ids(&self) -> Result<Vec<VendorId>> {
        self.read(sessions::vendor_ids).await
    }

    async fn config_dirs(&self, vendor: &VendorId) -> Result<Vec<PathBuf>> {
        let vendor = vendor.clone();
        self.read(move |connection| sessions::config_dirs(connection, &vendor)).await
    }

    async fn models(&self, vendor: &VendorId, limit: u32) -> Result<Vec<String>> {
        let vendor = vendor.clone();
        self.read(move |connection| sessions::models(connection, &vendor, limit)).await
    }

    async fn launches(&self, session: SessionId) -> Result<Vec<Launch>> {
        self.read(move |connection| read::launches(connection, session)).await
    }

    async fn open_launches(&self, machines: &[MachineId]) -> Result<Vec<Launch>> {
        let machines = machines.to_vec();
        self.read(move |connection| read::open_launches(connection, &machines)).await
    }

    async fn bindings(&self, session: SessionId) -> Result<Vec<Binding>> {
        self.read(move |connection| read::bindings(connection, session)).await
    }

    async fn events(&self, query: &EventQuery) -> Result<Vec<Event>> {
        let query = query.clone();
        self.read(move |connection| read::events(connection, &query)).await
    }

    async fn wait_for_events(&self, after: i64) -> Result<i64> {
        let mut newest = self.newest_event.subscribe();
        let waited = newest.wait_for(|newest| *newest > after).await;
        waited.map(|newest| *newest).map_err(|_| stopped())
    }

    async fn fleet(&self, name: &FleetName) -> Result<Option<Fleet>> {
        let name = name.clone();
        self.read(move |connection| read::fleet(connection, &name)).await
    }

    async fn fleet_names(&self) -> Result<Vec<FleetName>> {
        self.read(read::fleet_names).await
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

    async fn handoffs_of(&self, sessions: &[SessionId]) -> Result<Vec<Handoff>> {
        let sessions = sessions.to_vec();
        self.read(move |connection| read::handoffs_of(connection, &sessions)).await
    }

    async fn trust(&self, folder: &Path) -> Result<Option<Trust>> {
        let folder = folder.to_owned();
        self.read(move |connection| read::trust(connection, &folder)).await
    }

    async fn worktrees(&self, query: &WorktreeQuery) -> Result<Vec<AgentWorktree>> {
        let query = query.clone();
        self.read(move |connection| read::worktrees(connection, &query)).await
    }

    async fn message(&self, id: MessageId) -> Result<Option<Message>> {
        self.read(move |connection| read::message(connection, id)).await
    }

    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Message>> {
        let query = *query;
        self.read(move |connection| read::messages(connection, &query)).await
    }

    async fn exchanged_messages(
        &self,
        sessions: (SessionId, SessionId),
        limit: u32,
    ) -> Result<Vec<ExchangedMessage>> {
        self.read(move |connection| read::exchanged_messages(connection, sessions, limit)).await
    }

    async fn tasks(&self, query: &TaskQuery) -> Result<Vec<PlacedTask>> {
        let query = query.clone();
        self.read(move |connection| tasks::list(connection, &query)).await
    }

    async fn task_summaries(&self, query: &TaskQuery) -> Result<Vec<TaskSummary>> {
        let query = query.clone();
        self.read(move |connection| tasks::summaries(connection, &query)).await
    }

    async fn count_tasks(&self, query: &TaskQuery) -> Result<u32> {
        let query = query.clone();
        self.read(move |connection| tasks::count(connection, &query)).await
    }

    async fn child_reports(&self, parent: Option<WorkRef>) -> Result<Vec<ChildReport>> {
        self.read(move |connection| tasks::child_reports(connection, parent)).await
    }

    async fn agent_reports(&self, query: &AgentReportQuery) -> Result<Vec<AgentReport>> {
        let query = *query;
        self.read(move |connection| tasks::agent_reports(connection, &query)).await
    }

    async fn plans(&self, query: &PlanQuery) -> Result<Vec<Plan>> {
        let query = query.clone();
        self.read(move |connection| plans::list(connection, &query)).await
    }

    async fn plan_tasks(&self, query: &PlanTaskQuery) -> Result<Vec<PlanTask>> {
        let query = query.clone();
        self.read(move |connection| plans::tasks(connection, &query)).await
    }

    async fn issue_session(&self, key: &IssueKey) -> Result<Option<SessionId>> {
        let key = key.clone();
        self.read(move |connection| tasks::issue_session(connection, &key)).await
    }

    async fn issue_sessions(&self) -> Result<Vec<(IssueKey, SessionId)>> {
        self.read(housekeeping::issue_sessions).await
    }

    async fn launch_index(&self) -> Result<Vec<LaunchIndexEntry>> {
        self.read(housekeeping::launches).await
    }

    async fn housekeeping(&self) -> Result<HousekeepingState> {
        self.read(housekeeping::state).await
    }

    async fn usage_cursors(&self, sessions: &[SessionId]) -> Result<Vec<StoredUsageCursor>> {
        let sessions = sessions.to_vec();
        self.read(move |connection| usage::cursors(connection, &sessions)).await
    }

    async fn usage(&self, query: &UsageQuery) -> Result<Vec<DailyUsage>> {
        let query = query.clone();
        self.read(move |connection| usage::list(connection, &query)).await
    }

    async fn tokens(&self) -> Result<Vec<StoredToken>> {
        self.read(network::tokens).await
    }

    async fn listener(&self) -> Result<Option<ListenSettings>> {
        self.read(network::listener).await
    }

    async fn deliveries(&self, query: &DeliveryQuery) -> Result<Vec<DeliverySummary>> {
        let query = query.clone();
        self.read(move |connection| deliveries::list(connection, &query)).await
    }

    async fn delivery(&self, id: DeliveryId) -> Result<Option<Delivery>> {
        self.read(move |connection| deliveries::whole(connection, id)).await
    }

    async fn known_delivery(
        &self,
        source: &SourceName,
        forge_id: Option<&str>,
        digest: &str,
    ) -> Result<Option<DeliveryId>> {
        let (source, forge_id) = (source.clone(), forge_id.map(str::to_owned));
        let digest = digest.to_owned();
        self.read(move |connection| {
            deliveries::known(connection, &source, forge_id.as_deref(), &digest)
        })
        .await
    }

    async fn tracked_issues(&self, source: Option<&SourceName>) -> Result<Vec<TrackedIssue>> {
        let source = source.cloned();
        self.read(move |connection| deliveries::issues(connection, source.as_ref())).await
    }

    async fn polled_repositories(&self, source: &SourceName) -> Result<Vec<PolledRepository>> {
        let source = source.clone();
        self.read(move |connection| deliveries::polled_repositories(connection, &source)).await
    }

    async fn waiting_replies(&self) -> Result<Vec<ForgeReply>> {
        self.read(deliveries::waiting_replies).await
    }

    async fn sessions_of_issue(
        &self,
        repository: &RepositoryId,
        issue: &IssueRef,
    ) -> Result<Vec<(IssueKey, SessionId)>> {
        let (repository, issue) = (repository.clone(), issue.clone());
        self.read(move |connection| deliveries::sessions_of_issue(connection, &repository, &issue))
            .await
    }

    async fn request(&self, key: RequestKey) -> Result<Vec<RequestStep>> {
        self.read(move |connection| read::request(connection, key)).await
    }
}

fn serve(path: &Path, ready: oneshot::Sender<Result<i64>>, inbox: &mpsc::Receiver<Request>) {
    match open(path) {
        Ok((mut database, newest_event)) => {
            if ready.send(Ok(newest_event)).is_ok() {
                work(&mut database, inbox);
                database.close();
            }
        }
        // The receiver is gone if the caller was cancelled.
        Err(error) => drop(ready.send(Err(error))),
    }
}

/// Carries out requests in the order in which they came, until the store is dropped.
fn work(database: &mut Database, inbox: &mpsc::Receiver<Request>) {
    let mut next = inbox.recv().ok();
    while let Some(request) = next.take() {
        match request {
            Request::Other(work) => work(database),
            Request::Commit(first) => {
                let mut commits = vec![first];
                while commits.len() < MAX_COMMITS_TOGETHER && next.is_none() {
                    match inbox.try_recv() {
                        Ok(Request::Commit(another)) => commits.push(another),
                        Ok(other) => next = Some(other),
                        Err(_) => break,
                    }
                }
                write_together(database, commits);
            }
        }
        next = next.or_else(|| inbox.recv().ok());
    }
}

fn write_together(database: &mut Database, pending: Vec<PendingCommit>) {
    let (commits, replies): (Vec<Commit>, Vec<_>) =
        pending.into_iter().map(|PendingCommit { commit, reply }| (commit, reply)).unzip();
    for (reply, result) in replies.into_iter().zip(write::commit_all(database, &commits)) {
        // The receiver is gone if the caller was cancelled. The changes are kept.
        drop(reply.send(result));
    }
}

/// Opens a database. Returns it with the sequence number of its newest event.
fn open(path: &Path) -> Result<(Database, i64)> {
    let database = opening::open(path)?;
    let newest = write::last_event(&database.connection);
    let newest = newest.map_err(|error| SqliteFault::from(error).into_error(database.path()))?;
    Ok((database, newest))
}

fn stopped() -> Error {
    Error::unavailable("the store has stopped")
        .hint("run `segue daemon stop` and then `segue daemon start`")
}
