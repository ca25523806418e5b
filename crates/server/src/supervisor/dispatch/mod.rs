//! Processes what comes from forges.
//!
//! Each source has a worker of its own, so that a forge that cannot be reached delays no other. The
//! worker compares deliveries with the rules, cleans up after closed issues, writes replies, and asks
//! the forge for issues whose deliveries were missed, one after another and in the order in which
//! they came. It sleeps until a delivery arrives, a task ends, or the forge is to be asked.

mod cleanup;
mod missed;
mod polling;
mod process;
mod replies;
mod requests;
mod settings;
mod worker;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use segue_core::Result;
use segue_core::model::{DeliveryStateKind, SourceName};
use segue_core::ports::DeliveryQuery;
use tokio::sync::Notify;

pub(crate) use requests::{list, page, receive, replay, show, test};

use super::Supervisor;
use worker::SourceWorker;

/// The workers of all sources.
#[derive(Debug, Default)]
pub(crate) struct ForgeDispatch {
    workers: Mutex<HashMap<SourceName, Arc<WorkerBell>>>,
}

/// Wakes a worker.
#[derive(Debug, Default)]
struct WorkerBell {
    /// There is work. A worker that waits after a failure does not hear it.
    work: Notify,
    /// The settings have changed: the failure may be over.
    settings: Notify,
}

impl ForgeDispatch {
    fn workers(&self) -> MutexGuard<'_, HashMap<SourceName, Arc<WorkerBell>>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes every worker, because a task has ended.
    pub(super) fn task_ended(&self) {
        for bell in self.workers().values() {
            bell.work.notify_one();
        }
    }

    /// Wakes every worker, because the settings have changed.
    fn settings_changed(&self) {
        for bell in self.workers().values() {
            bell.settings.notify_one();
        }
    }
}

/// Takes up the work of the last daemon: starts a worker for each source of the settings, and for each
/// source that has unfinished work. Called once, after the tasks are taken up.
pub(crate) async fn take_up(supervisor: &Arc<Supervisor>) -> Result<()> {
    let store = &supervisor.ports.store;
    let states = Some(vec![DeliveryStateKind::Received]);
    let query = DeliveryQuery { states, ..DeliveryQuery::default() };
    let mut names: Vec<SourceName> =
        store.deliveries(&query).await?.into_iter().map(|it| it.source).collect();
    names.extend(store.waiting_replies().await?.into_iter().map(|it| it.target.source));
    let tracked = store.tracked_issues(None).await?.into_iter();
    names.extend(tracked.filter(|it| it.needs_cleanup).map(|it| it.source));
    for name in names {
        wake(supervisor, &name);
    }
    settings::watch(supervisor);
    start_askers(supervisor);
    Ok(())
}

/// Starts a worker for each source of the settings that is to be asked. Returns whether the settings
/// could be read; `segue doctor` reports settings that cannot.
fn start_askers(supervisor: &Arc<Supervisor>) -> bool {
    let Ok(sources) = supervisor.ports.sources.sources() else { return false };
    for source in sources.into_iter().filter(|it| it.has_token) {
        let is_known = supervisor.dispatch.workers().contains_key(&source.name);
        if !is_known {
            wake(supervisor, &source.name);
        }
    }
    true
}

/// Wakes the worker of a source. Starts it if there is none.
pub(super) fn wake(supervisor: &Arc<Supervisor>, source: &SourceName) {
    let mut workers = supervisor.dispatch.workers();
    if let Some(bell) = workers.get(source) {
        bell.work.notify_one();
        return;
    }
    let bell = Arc::new(WorkerBell::default());
    workers.insert(source.clone(), Arc::clone(&bell));
    drop(workers);
    let worker = SourceWorker::new(supervisor, source.clone(), bell);
    tokio::spawn(worker.run());
}
