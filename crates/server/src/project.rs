//! Reads project files (`segue.toml`) and the user's settings (`config.toml`).

mod credentials;
mod dispatch;
mod housekeeping;
mod settings;
mod source;
mod sources;
mod templates;
mod timers;
mod variables;
mod vendors;
mod worktrees;
mod written;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use segue_core::Result;
use segue_core::model::{FleetScale, PROJECT_FILE, Project, VendorId};
use segue_core::ports::{Checkouts, ProjectFile, Projects, Vendors};

pub(crate) use credentials::{CredentialSettings, HostCredential, SecretSource, credentials};
pub(crate) use dispatch::dispatch_rules;
pub(crate) use housekeeping::{disk_budget, sweep_ages, sweep_interval};
pub(crate) use settings::{
    archive_limit, attention, check as check_settings, check_names, environment, repetition_limits,
    silence_limit, task_limits, tree_limits,
};

pub(crate) use sources::{SourceTable, source_tables};

use source::ProjectSource;
use written::WrittenProject;

/// Project files in folders of this machine.
#[derive(Debug)]
pub(crate) struct ProjectFolders {
    vendors: Arc<dyn Vendors>,
    checkouts: Arc<dyn Checkouts>,
    /// The user's settings.
    config_file: PathBuf,
}

impl ProjectFolders {
    pub(crate) fn new(
        vendors: Arc<dyn Vendors>,
        checkouts: Arc<dyn Checkouts>,
        config_file: PathBuf,
    ) -> Self {
        Self { vendors, checkouts, config_file }
    }
}

impl Projects for ProjectFolders {
    fn root(&self, folder: &Path) -> Option<PathBuf> {
        root(folder)
    }

    fn read(&self, root: &Path) -> Result<Arc<dyn ProjectFile>> {
        Ok(Arc::new(TomlFile {
            folder: root.to_owned(),
            source: ProjectSource::read(&root.join(PROJECT_FILE))?,
            vendors: Arc::clone(&self.vendors),
            checkouts: Arc::clone(&self.checkouts),
        }))
    }

    fn default_vendor(&self) -> Result<Option<VendorId>> {
        settings::default_vendor(&self.config_file, self.vendors.as_ref())
    }
}

/// A `segue.toml` whose text was read.
#[derive(Debug)]
struct TomlFile {
    folder: PathBuf,
    source: ProjectSource,
    vendors: Arc<dyn Vendors>,
    checkouts: Arc<dyn Checkouts>,
}

impl ProjectFile for TomlFile {
    fn project(&self, scale: &FleetScale) -> Result<Project> {
        let written: WrittenProject = self.source.parse()?;
        let ports = (self.vendors.as_ref(), self.checkouts.as_ref(), scale);
        written.into_project(&self.folder, &self.source, ports)
    }
}

/// The longest path of a folder (`PATH_MAX`). The daemon does not search the parent folders of a
/// longer path that a caller sends: that could take very long.
const MAX_PATH_BYTES: usize = 4096;

/// See [`Projects::root`].
fn root(folder: &Path) -> Option<PathBuf> {
    if folder.as_os_str().len() > MAX_PATH_BYTES {
        return None;
    }
    let has_file = |folder: &&Path| fs::symlink_metadata(folder.join(PROJECT_FILE)).is_ok();
    folder.ancestors().find(has_file).map(Path::to_owned)
}

#[cfg(test)]
mod tests;
