//! Routes file changes to the sessions that they concern.
//!
//! If the system has no inotify watch left for a folder, the folder is polled every few seconds
//! until it can be watched. Nothing else is polled.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::future::pending;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use segue_core::api::{Finding, Severity};
use segue_core::model::SessionId;
use segue_core::ports::{FolderChange, FolderWatcher, FolderWatchers};
use segue_core::{Error, Kind, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::{SessionObservation, Supervisor};

/// The interval at which a folder that cannot be watched is polled.
const POLL_INTERVAL: Duration = Duration::from_secs(3);

enum Order {
    Follow { session: SessionId, folders: Vec<PathBuf>, done: oneshot::Sender<Result<()>> },
    Leave { session: SessionId },
}

/// Sends requests to the task that owns the watcher.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    orders: mpsc::UnboundedSender<Order>,
    shortage: Arc<Mutex<Shortage>>,
}

/// The sessions whose files cannot be watched now, and why.
#[derive(Debug, Default)]
struct Shortage {
    /// The sessions whose folders are polled.
    sessions: HashSet<SessionId>,
    cause: Option<Error>,
}

impl Shortage {
    fn detail(&self, session: SessionId) -> Option<String> {
        let cause = self.cause.as_ref().filter(|_| self.sessions.contains(&session))?;
        let seconds = POLL_INTERVAL.as_secs();
        Some(format!("{}; looked at every {seconds} s", cause.message))
    }

    fn finding(&self) -> Option<Finding> {
        let cause = self.cause.as_ref().filter(|_| !self.sessions.is_empty())?;
        let (count, seconds) = (self.sessions.len(), POLL_INTERVAL.as_secs());
        let ending = if count == 1 { " is" } else { "s are" };
        let what =
            format!("{}: {count} session{ending} looked at every {seconds} s", cause.message);
        let cure = cause.hints.first().cloned();
        Some(Finding { severity: Severity::Warning, what, cure, curable: false, fixed: false })
    }
}

impl Watch {
    /// Returns a handle to a new router, and the router, which is not started yet.
    pub(crate) fn new(watchers: Arc<dyn FolderWatchers>) -> (Self, Router) {
        let (sender, orders) = mpsc::unbounded_channel();
        let shortage = Arc::<Mutex<Shortage>>::default();
        let router = Router {
            orders,
            supervisor: Weak::new(),
            watchers,
            watcher: None,
            interest: HashMap::new(),
            unwatched: BTreeMap::new(),
            next_poll: None,
            shortage: Arc::clone(&shortage),
        };
        (Self { orders: sender, shortage }, router)
    }

    /// Returns after changes in these folders are routed to the session.
    pub(crate) async fn follow(&self, session: SessionId, folders: Vec<PathBuf>) -> Result<()> {
        let (done, answer) = oneshot::channel();
        if self.orders.send(Order::Follow { session, folders, done }).is_err() {
            return Ok(());
        }
        answer.await.unwrap_or(Ok(()))
    }

    pub(crate) fn leave(&self, session: SessionId) {
        // The task ends only with the daemon. Then no watch needs to be removed.
        let _ended = self.orders.send(Order::Leave { session });
    }

    /// Returns why a session's files cannot be watched, for its status.
    pub(crate) fn shortage_of(&self, session: SessionId) -> Option<String> {
        locked(&self.shortage).detail(session)
    }

    /// Returns the finding of `segue doctor` about files that cannot be watched.
    pub(crate) fn examine(&self) -> Option<Finding> {
        locked(&self.shortage).finding()
    }
}

fn locked(shortage: &Mutex<Shortage>) -> MutexGuard<'_, Shortage> {
    shortage.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The owner of the watcher.
pub(crate) struct Router {
    orders: mpsc::UnboundedReceiver<Order>,
    supervisor: Weak<Supervisor>,
    watchers: Arc<dyn FolderWatchers>,
    /// `None` before the first folder, and while the system has no watcher left.
    watcher: Option<Box<dyn FolderWatcher>>,
    /// The sessions that each folder concerns.
    interest: HashMap<PathBuf, HashSet<SessionId>>,
    /// The folders that cannot be watched, and why.
    unwatched: BTreeMap<PathBuf, Error>,
    /// When these folders are polled next. `None` if there are none.
    next_poll: Option<Instant>,
    shortage: Arc<Mutex<Shortage>>,
}

impl Router {
    pub(crate) fn start(mut self, supervisor: Weak<Supervisor>) {
        self.supervisor = supervisor;
        tokio::spawn(self.run());
    }

    async fn run(mut self) {
        loop {
            let Self { orders, watcher, next_poll, .. } = &mut self;
            tokio::select! {
                order = orders.recv() => match order {
                    Some(order) => self.carry_out(order),
                    None => return,
                },
                change = next_change(watcher) => match change {
                    Ok(change) => self.route(change),
                    Err(error) => self.lose_watcher(&error),
                },
                () = sleep_until_some(*next_poll) => self.poll(),
            }
        }
    }

    fn carry_out(&mut self, order: Order) {
        match order {
            Order::Follow { session, folders, done } => {
                let mut added = Ok(());
                for folder in folders {
                    self.interest.entry(folder.clone()).or_default().insert(session);
                    added = added.and(self.watch(&folder));
                }
                self.schedule_poll();
                // The session may have ended meanwhile.
                let _gone = done.send(added);
            }
            Order::Leave { session } => {
                self.leave(session);
                self.schedule_poll();
            }
        }
    }

    /// Watches a folder. If the system has no watch left, the folder is polled instead.
    fn watch(&mut self, folder: &Path) -> Result<()> {
        match self.try_to_watch(folder) {
            Ok(()) => {
                self.unwatched.remove(folder);
                Ok(())
            }
            Err(error) if error.kind == Kind::Unavailable => {
                self.unwatched.insert(folder.to_owned(), error);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn try_to_watch(&mut self, folder: &Path) -> Result<()> {
        match &mut self.watcher {
            Some(watcher) => watcher.add(folder),
            None => self.watcher.insert(self.watchers.watcher()?).add(folder),
        }
    }

    /// Drops a watcher that has failed. All its folders wait for a new one.
    fn lose_watcher(&mut self, error: &Error) {
        self.watcher = None;
        self.unwatched = self.interest.keys().map(|it| (it.clone(), error.clone())).collect();
        self.schedule_poll();
    }

    /// Tries again to watch the folders that could not be watched, and makes their sessions read
    /// them.
    fn poll(&mut self) {
        let concerned = self.concerned();
        for folder in self.unwatched.keys().cloned().collect::<Vec<_>>() {
            if let Err(error) = self.watch(&folder) {
                tracing::warn!(folder = %folder.display(), %error, "a folder cannot be watched");
                self.unwatched.remove(&folder);
            }
        }
        self.next_poll = None;
        self.schedule_poll();
        // Include the folders that are watched now. They may have changed before.
        self.read_all_signals(concerned);
    }

    /// Schedules the next poll if a folder cannot be watched, and updates the shortage that clients
    /// see.
    fn schedule_poll(&mut self) {
        let soon = Instant::now() + POLL_INTERVAL;
        let is_needed = !self.unwatched.is_empty();
        self.next_poll = is_needed.then(|| self.next_poll.unwrap_or(soon));
        let cause = self.unwatched.values().next().cloned();
        let sessions = self.concerned();
        let mut shortage = locked(&self.shortage);
        if let (None, Some(error)) = (&shortage.cause, &cause) {
            tracing::warn!(%error, "files cannot be watched, and are polled");
        }
        *shortage = Shortage { sessions, cause };
    }

    /// Returns the sessions with a folder that cannot be watched.
    fn concerned(&self) -> HashSet<SessionId> {
        let sets = self.unwatched.keys().filter_map(|folder| self.interest.get(folder));
        sets.flatten().copied().collect()
    }

    fn read_all_signals(&self, sessions: HashSet<SessionId>) {
        let Some(supervisor) = self.supervisor.upgrade() else { return };
        sessions
            .into_iter()
            .for_each(|session| supervisor.send_to_actor(session, SessionObservation::ChangesLost));
    }

    fn leave(&mut self, session: SessionId) {
        let Self { watcher, unwatched, .. } = self;
        self.interest.retain(|folder, sessions| {
            let left = sessions.remove(&session) && sessions.is_empty();
            if left {
                unwatched.remove(folder);
                if let Some(watcher) = watcher {
                    watcher.remove(folder);
                }
            }
            !left
        });
    }

    fn route(&mut self, change: FolderChange) {
        match change {
            FolderChange::At { path, .. } => {
                let Some(supervisor) = self.supervisor.upgrade() else { return };
                for session in self.interested(&path) {
                    supervisor.send_to_actor(
                        session,
                        SessionObservation::FileChanged { path: path.clone() },
                    );
                }
            }
            FolderChange::Overflow => {
                self.read_all_signals(self.interest.values().flatten().copied().collect());
            }
            FolderChange::Unwatched { folder, error } => {
                self.unwatched.insert(folder, error);
                self.schedule_poll();
            }
        }
    }

    fn interested(&self, path: &Path) -> Vec<SessionId> {
        let folders = [path.parent(), Some(path)];
        let sets = folders.into_iter().flatten().filter_map(|folder| self.interest.get(folder));
        sets.flatten().copied().collect()
    }
}

/// Waits for a change, forever if there is no watcher.
async fn next_change(watcher: &mut Option<Box<dyn FolderWatcher>>) -> Result<FolderChange> {
    match watcher {
        Some(watcher) => watcher.next().await,
        None => pending().await,
    }
}

/// Waits until the given time, forever if there is none.
async fn sleep_until_some(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}
