//! The daemon. There is one per user. It may die at any time, and agents continue without it.

mod repair;
mod serving;

use std::sync::Arc;

use jiff::Timestamp;
use segue_core::model::Environment;
use segue_core::ports::Terminals;
use segue_core::{Error, Result};
use segue_host::listener::Listener;
use segue_host::lock::FileLock;
use segue_host::{Paths, daemon as process};
use segue_store as store;
use tokio::sync::{OnceCell, watch};

use crate::event_feed::EventFeed;
use crate::metrics::Metrics;
use crate::network::{ListenerInbox, Network};
use crate::requests::Requests;
use crate::supervisor::{Supervisor, dispatch, start_sweeper, tasks};
use crate::wiring::{self, Local};

pub(crate) use serving::{CLOSE, ConnectionLease, HttpLimits, REQUEST_GRACE, ServedConnection};

/// The state that all routes share.
#[derive(Debug)]
pub(crate) struct Daemon {
    pub(crate) paths: Paths,
    environment: Environment,
    pub(crate) owner: u32,
    pub(crate) started_at: Timestamp,
    /// Set when the daemon starts. If the store cannot be opened then, each request tries again.
    opened: OnceCell<Opened>,
    /// Whether the daemon was asked to stop.
    ending: watch::Sender<bool>,
    pub(crate) requests: Arc<Requests>,
    pub(crate) network: Network,
    pub(crate) terminals: Arc<dyn Terminals>,
    pub(crate) events: EventFeed,
    pub(crate) metrics: Arc<Metrics>,
    /// Prevents a second daemon on the same store. Each daemon would take the other's agents for
    /// lost.
    _store_lock: FileLock,
}

/// The parts of a daemon that need an open store. Without them only `doctor` works.
#[derive(Debug)]
struct Opened {
    supervisor: Arc<Supervisor>,
    /// Becomes true after the first reconciliation.
    reconciled: watch::Receiver<bool>,
}

/// Runs the daemon until it is asked to stop. Reports to the process that started the daemon that
/// it is ready, or why it cannot start. Returns the daemon's lock, which the caller must drop last:
/// the next daemon waits for it before it binds the socket.
pub(crate) async fn run(local: Local) -> Result<FileLock> {
    let started = start(&local).await;
    let outcome = started.as_ref().map(|_| ()).map_err(Clone::clone);
    process::announce(&outcome, &local.paths().start_lock())?;
    let Started { daemon, listener, inbox, lock } = started?;
    serving::serve(daemon, listener, inbox).await.map(|()| lock)
}

/// A daemon that can accept requests.
struct Started {
    daemon: Arc<Daemon>,
    listener: Listener,
    inbox: ListenerInbox,
    lock: FileLock,
}

async fn start(local: &Local) -> Result<Started> {
    let paths = local.paths().clone();
    paths.ensure()?;
    let lock = FileLock::try_acquire(&paths.daemon_lock())?.ok_or_else(|| {
        Error::conflict("another daemon runs")
            .hint("run `segue daemon status` to see it, `segue daemon stop` to end it")
    })?;
    let store_lock = FileLock::try_acquire_unseen(&paths.store_folder())?.ok_or_else(|| {
        Error::conflict("another daemon uses the store, with another state folder")
            .caused_by(format!("the store is in `{}`", paths.store_folder().display()))
            .hint("use the same `SEGUE_HOME` or `XDG_STATE_HOME` as that one")
    })?;
    wiring::refuse_outside_holders(&paths).await?;
    wiring::forget_readings(&paths);
    wiring::tidy_after_holders(&paths);
    let (network, inbox) = Network::new();
    let daemon = Daemon {
        environment: local.environment().clone(),
        owner: rustix::process::getuid().as_raw(),
        started_at: wiring::now(),
        opened: OnceCell::new(),
        ending: watch::channel(false).0,
        requests: Arc::default(),
        network,
        terminals: local.terminals(),
        events: EventFeed::default(),
        metrics: Arc::default(),
        _store_lock: store_lock,
        paths,
    };
    if let Err(error) = daemon.opened().await {
        tracing::error!(%error, "the store cannot be used");
    }
    let listener = Listener::bind(&daemon.paths.daemon_socket())?;
    Ok(Started { daemon: Arc::new(daemon), listener, inbox, lock })
}

async fn open(paths: &Paths, environment: &Environment) -> Result<Opened> {
    let database = paths.database();
    let is_gone = !store::exists(&database);
    if is_gone && (store::has_backup(&database) || wiring::has_launches(paths)?) {
        return Err(Error::unavailable(format!("the store `{}` is gone", database.display()))
            .caused_by("there are launch folders or a backup, so the store existed before")
            .hint("run `segue doctor --fix` to rebuild it from them"));
    }
    let store = store::open(&database).await?;
    let ports = wiring::ports(paths, environment, store)?;
    let supervisor = Supervisor::new(ports, paths.config_file());
    let reconciled = reconcile(Arc::clone(&supervisor));
    Ok(Opened { supervisor, reconciled })
}

/// Takes up the tasks and the deliveries of the last daemon.
async fn take_up_work(supervisor: &Arc<Supervisor>) -> Result<()> {
    tasks::take_up(supervisor).await?;
    dispatch::take_up(supervisor).await
}

/// Finds out in the background what happened to every launch, then takes up the tasks and the
/// deliveries, and starts the sweeper. The returned value becomes true when that is done.
fn reconcile(supervisor: Arc<Supervisor>) -> watch::Receiver<bool> {
    let (done, reconciled) = watch::channel(false);
    tokio::spawn(async move {
        if let Err(error) = supervisor.reconcile().await {
            tracing::error!(%error, "not every launch could be examined");
        }
        if let Err(error) = take_up_work(&supervisor).await {
            tracing::error!(%error, "the queued tasks cannot be read");
        }
        start_sweeper(&supervisor);
        done.send_replace(true);
    });
    reconciled
}

impl Daemon {
    /// Opens the store if it is not open. Fails if the store cannot be opened.
    async fn opened(&self) -> Result<&Opened> {
        self.opened
            .get_or_try_init(|| async {
                let opened = open(&self.paths, &self.environment).await?;
                let (feed, metrics) = (self.events.clone(), Arc::clone(&self.metrics));
                tokio::spawn(feed.run(opened.supervisor.ports.clone(), metrics));
                Ok(opened)
            })
            .await
    }

    /// Returns the supervisor after it has found out what happened to every launch.
    pub(crate) async fn ready(&self) -> Result<Arc<Supervisor>> {
        let opened = self.opened().await?;
        // The sender is dropped only after the first reconciliation, whether that succeeds or not.
        let mut reconciled = opened.reconciled.clone();
        let _over = reconciled.wait_for(|done| *done).await;
        Ok(Arc::clone(&opened.supervisor))
    }

    /// Waits until the daemon is asked to stop.
    pub(crate) async fn stopping(&self) {
        // `self` owns the sender, so this cannot fail.
        drop(self.ending.subscribe().wait_for(|ending| *ending).await);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.ending.borrow()
    }

    pub(crate) fn shut_down(&self) {
        self.ending.send_replace(true);
    }
}
