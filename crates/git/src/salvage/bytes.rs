//! The disk space of salvages.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use segue_core::{Error, Result};

use super::PREFIX;
use crate::layout::RepositoryFolders;
use crate::program::Git;

/// The sizes of repositories' salvages, and the refs with which they were found out.
#[derive(Debug, Default)]
pub(crate) struct SalvageSizes {
    known: Mutex<HashMap<PathBuf, (String, u64)>>,
}

impl SalvageSizes {
    /// Returns the number of bytes of the objects that only salvages of a repository need, as they
    /// are stored now: packed objects are smaller than loose ones.
    pub(crate) async fn of(&self, git: &Git, repository: &RepositoryFolders) -> Result<u64> {
        let format = "--format=%(objectname) %(refname)";
        let refs = git.bookkeeping(repository).args(["for-each-ref", format]).line().await?;
        if !refs.contains(PREFIX) {
            self.known().remove(&repository.common);
            return Ok(0);
        }
        if let Some((_, bytes)) =
            self.known().get(&repository.common).filter(|(known, _)| *known == refs)
        {
            return Ok(*bytes);
        }
        let bytes = count(git, repository).await?;
        self.known().insert(repository.common.clone(), (refs, bytes));
        Ok(bytes)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, (String, u64)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn count(git: &Git, repository: &RepositoryFolders) -> Result<u64> {
    // A partial clone does not have every object. Git must not fetch them for this.
    let command = git.bookkeeping(repository).args(["rev-list", "--objects", "--disk-usage"]);
    let command = command.args(["--missing=allow-promisor", "--glob=refs/segue/salvage/*"]);
    let command = command.args(["--not", "--exclude=refs/segue/*", "--all"]);
    let text = command.line().await?;
    let wrong = |error| Error::internal(format!("git counted `{text}` bytes")).caused_by(error);
    text.trim().parse().map_err(wrong)
}
