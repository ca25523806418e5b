//! The metadata of a salvage: facts about its worktree that are not stored as files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::model::{BranchName, CommitId, RefName, Salvage};
use segue_core::{Error, Result};
use serde::{Deserialize, Serialize};

use super::disk::join;
use super::names::{bytes, text};

/// The name of the metadata in a salvage.
pub(super) const FILE: &str = "salvage.json";
/// The version of the format. A reader refuses newer ones.
const VERSION: u32 = 1;

/// The metadata of a salvage. Paths are texts, see [`super::names`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Metadata {
    version: u32,
    path: String,
    /// The worktree's git folder. A restored worktree may get another one.
    #[serde(default)]
    git_folder: String,
    pub(super) branch: Option<String>,
    pub(super) head: Option<String>,
    /// Whether HEAD named a commit, as in the middle of a rebase, and not a branch.
    pub(super) is_detached: bool,
    made_at: Timestamp,
    pub(super) is_remainder: bool,
    /// Patterns of the ignored files that were stored.
    #[serde(default)]
    pub(crate) include: Vec<String>,
    #[serde(flatten)]
    pub(super) details: SalvageDetails,
}

/// Facts about files that a tree of git cannot store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SalvageDetails {
    /// Files that Git LFS makes from the pointers in the tree.
    pub(super) filtered: Vec<String>,
    /// Permissions that are not the usual ones.
    pub(super) permissions: BTreeMap<String, u32>,
    pub(super) nested_permissions: BTreeMap<String, u32>,
    pub(super) nested_empty_folders: Vec<String>,
    pub(super) state_empty_folders: Vec<String>,
    /// Pipes, sockets and devices. They are not restored.
    pub(super) special: Vec<String>,
}

/// The worktree that a salvage is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct SalvagedWorktree<'a> {
    pub(super) path: &'a Path,
    pub(super) git_folder: &'a Path,
    pub(super) branch: Option<&'a str>,
    pub(super) head: Option<&'a CommitId>,
    pub(super) is_detached: bool,
    pub(super) is_remainder: bool,
    pub(super) include: &'a [String],
}

impl Metadata {
    pub(super) fn new(
        worktree: SalvagedWorktree<'_>,
        details: SalvageDetails,
        made_at: Timestamp,
    ) -> Self {
        Self {
            version: VERSION,
            path: text(path_bytes(worktree.path)),
            git_folder: text(path_bytes(worktree.git_folder)),
            branch: worktree.branch.map(str::to_owned),
            head: worktree.head.map(ToString::to_string),
            is_detached: worktree.is_detached,
            made_at,
            is_remainder: worktree.is_remainder,
            include: worktree.include.to_vec(),
            details,
        }
    }

    pub(super) fn json(&self) -> Result<Vec<u8>> {
        let json = serde_json::to_vec_pretty(self);
        json.map_err(|error| Error::internal("cannot describe a salvage").caused_by(error))
    }

    pub(super) fn parse(json: &[u8]) -> Result<Self> {
        let unreadable = || Error::unavailable("the metadata of a salvage cannot be read");
        let metadata: Self =
            serde_json::from_slice(json).map_err(|error| unreadable().caused_by(error))?;
        match metadata.version {
            VERSION => Ok(metadata),
            version => Err(unreadable().caused_by(format!("it has version {version}"))),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        join(Path::new(""), &bytes(&self.path))
    }

    pub(super) fn git_folder(&self) -> PathBuf {
        join(Path::new(""), &bytes(&self.git_folder))
    }

    pub(crate) fn head(&self) -> Option<CommitId> {
        self.head.as_deref().and_then(|head| CommitId::parse(head).ok())
    }

    pub(crate) fn branch(&self) -> Option<BranchName> {
        self.branch.as_deref().and_then(|branch| BranchName::parse(branch).ok())
    }

    /// Returns the salvage that has this metadata.
    pub(super) fn salvage(&self, reference: RefName, commit: CommitId) -> Salvage {
        Salvage {
            reference,
            commit,
            path: self.path(),
            branch: self.branch(),
            head: self.head(),
            made_at: self.made_at,
            is_remainder: self.is_remainder,
        }
    }
}

fn path_bytes(path: &Path) -> &[u8] {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str())
}
