//! Routes changes of files to the sessions that they concern.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Weak;

use segue_core::Result;
use segue_core::model::SessionId;
use segue_host::watch::{Change, Watcher};
use tokio::sync::{mpsc, oneshot};

use super::{Message, Supervisor};

enum Order {
    Follow { session: SessionId, folders: Vec<PathBuf>, done: oneshot::Sender<Result<()>> },
    Leave { session: SessionId },
}

/// The way to the task that owns the watcher.
#[derive(Clone, Debug)]
pub(crate) struct Watch(mpsc::UnboundedSender<Order>);

impl Watch {
    /// Returns the way to a router, and the router, which is yet to be started.
    pub(crate) fn new() -> Result<(Self, Router)> {
        let (sender, orders) = mpsc::unbounded_channel();
        let (watcher, interest) = (Watcher::new()?, HashMap::new());
        Ok((Self(sender), Router { orders, supervisor: Weak::new(), watcher, interest }))
    }

    /// Returns when changes in these folders will reach the session.
    pub(crate) async fn follow(&self, session: SessionId, folders: Vec<PathBuf>) -> Result<()> {
        let (done, answer) = oneshot::channel();
        if self.0.send(Order::Follow { session, folders, done }).is_err() {
            return Ok(());
        }
        answer.await.unwrap_or(Ok(()))
    }

    pub(crate) fn leave(&self, session: SessionId) {
        // The task ends only with the daemon, and then nothing needs to be left.
        let _ended = self.0.send(Order::Leave { session });
    }
}

/// The owner of the watcher.
pub(crate) struct Router {
    orders: mpsc::UnboundedReceiver<Order>,
    supervisor: Weak<Supervisor>,
    watcher: Watcher,
    interest: HashMap<PathBuf, HashSet<SessionId>>,
}

impl Router {
    pub(crate) fn start(mut self, supervisor: Weak<Supervisor>) {
        self.supervisor = supervisor;
        tokio::spawn(self.run());
    }

    async fn run(mut self) {
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(order) => self.obey(order),
                    None => return,
                },
                change = self.watcher.next() => match change {
                    Ok(change) => self.route(change),
                    Err(error) => {
                        tracing::error!(%error, "file changes cannot be followed any more");
                        return;
                    }
                },
            }
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Follow { session, folders, done } => {
                let added = folders.iter().try_for_each(|folder| self.watcher.add(folder));
                for folder in folders {
                    self.interest.entry(folder).or_default().insert(session);
                }
                // The session may have ended meanwhile.
                let _gone = done.send(added);
            }
            Order::Leave { session } => self.leave(session),
        }
    }

    fn leave(&mut self, session: SessionId) {
        let watcher = &mut self.watcher;
        self.interest.retain(|folder, sessions| {
            let left = sessions.remove(&session) && sessions.is_empty();
            if left {
                watcher.remove(folder);
            }
            !left
        });
    }

    fn route(&self, change: Change) {
        let Some(supervisor) = self.supervisor.upgrade() else { return };
        match change {
            Change::At { path, .. } => {
                for session in self.interested(&path) {
                    supervisor.tell(session, Message::FileChanged { path: path.clone() });
                }
            }
            Change::Overflow => {
                let all: HashSet<_> = self.interest.values().flatten().copied().collect();
                all.into_iter().for_each(|session| supervisor.tell(session, Message::LookAgain));
            }
        }
    }

    fn interested(&self, path: &Path) -> Vec<SessionId> {
        let folders = [path.parent(), Some(path)];
        let sets = folders.into_iter().flatten().filter_map(|folder| self.interest.get(folder));
        sets.flatten().copied().collect()
    }
}
