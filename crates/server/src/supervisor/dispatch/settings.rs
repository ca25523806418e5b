//! Notices changes of the settings, so that new sources are asked without a new daemon.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use segue_core::Result;
use segue_core::ports::{FolderChange, FolderWatcher};

use super::super::Supervisor;
use super::start_askers;

/// Watches `config.toml` until the daemon ends. The kernel reports its changes.
pub(super) fn watch(supervisor: &Arc<Supervisor>) {
    let watched = WatchedSettings::new(supervisor.config_file());
    let watcher = supervisor.ports.watchers.watcher().and_then(|watcher| watched.added(watcher));
    match watcher {
        Ok(watcher) => {
            let supervisor = Arc::downgrade(supervisor);
            tokio::spawn(async move { watched.run(watcher, &supervisor).await });
        }
        Err(error) => tracing::warn!(%error, "new sources are only noticed by a new daemon"),
    }
}

/// The paths of the settings: the path itself, and the file to which a symlink at this path leads.
struct WatchedSettings {
    paths: Vec<PathBuf>,
}

impl WatchedSettings {
    fn new(config_file: &Path) -> Self {
        let mut paths = vec![config_file.to_owned()];
        paths.extend(config_file.canonicalize().ok().filter(|real| real != config_file));
        Self { paths }
    }

    fn added(&self, mut watcher: Box<dyn FolderWatcher>) -> Result<Box<dyn FolderWatcher>> {
        for folder in self.paths.iter().filter_map(|path| path.parent()) {
            watcher.add(folder)?;
        }
        Ok(watcher)
    }

    async fn run(&self, mut watcher: Box<dyn FolderWatcher>, supervisor: &Weak<Supervisor>) {
        loop {
            let is_changed = match watcher.next().await {
                Ok(FolderChange::At { path, .. }) => self.paths.contains(&path),
                Ok(FolderChange::Overflow) => true,
                Ok(FolderChange::Unwatched { error, .. }) | Err(error) => {
                    tracing::warn!(%error, "new sources are only noticed by a new daemon");
                    return;
                }
            };
            let Some(supervisor) = supervisor.upgrade() else { return };
            // A file that is being written cannot be read. Its last change is reported, too.
            if is_changed && start_askers(&supervisor) {
                supervisor.dispatch.settings_changed();
            }
        }
    }
}
