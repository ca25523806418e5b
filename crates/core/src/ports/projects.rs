//! Project files, and the user's settings that decisions about sessions need.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Result;
use crate::model::{FleetScale, Project, VendorId};

/// Finds and reads project files.
pub trait Projects: Debug + Send + Sync {
    /// Returns the nearest folder at or above this one that contains a project file. A file that
    /// cannot be read counts, too: [`Self::read`] then reports the error.
    fn root(&self, folder: &Path) -> Option<PathBuf>;

    /// Reads the project file of a folder that contains one.
    fn read(&self, root: &Path) -> Result<Arc<dyn ProjectFile>>;

    /// Returns the default vendor of the user's settings.
    fn default_vendor(&self) -> Result<Option<VendorId>>;

    /// Returns the project that a folder belongs to, as its file defines it. `None` if the folder is
    /// in no project.
    fn around(&self, folder: &Path) -> Result<Option<Project>> {
        let Some(root) = self.root(folder) else { return Ok(None) };
        self.read(&root)?.project(&FleetScale::default()).map(Some)
    }
}

/// A project file that was read. Each of its text files is read at most once, so the texts that the
/// user has trusted and the texts that agents get are the same.
pub trait ProjectFile: Debug + Send + Sync {
    /// Returns the project with these numbers of agents.
    fn project(&self, scale: &FleetScale) -> Result<Project>;
}
