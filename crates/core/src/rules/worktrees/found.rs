//! Decides what the state that is found at a worktree's path means.

use std::path::{Path, PathBuf};

use super::UnfinishedStep;
use crate::error::Error;
use crate::model::{BranchName, ListedWorktree, RefName};
use crate::rules::shell::quoted;

/// What is at the path of a wanted worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundWorktree {
    pub path: PathBuf,
    pub content: FolderContent,
    pub link: GitLink,
    /// The repository's entry for this path.
    pub entry: Option<ListedWorktree>,
}

/// What a folder contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderContent {
    Missing,
    Empty,
    Files,
    NotAFolder,
}

/// What the `.git` in a folder is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitLink {
    Missing,
    /// A file that does not lead to a repository.
    Broken,
    /// A folder: a repository of its own.
    Repository,
    /// It leads to a worktree of another repository.
    Foreign,
    /// It leads to a worktree of this repository, which the repository expects at this path.
    Worktree {
        expected_at: Option<PathBuf>,
        is_occupied: bool,
    },
}

/// What to do next to get the wanted worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// It is there and right.
    Reuse,
    Create,
    /// Run `git worktree repair`.
    Repair,
    /// Git lists it, and its folder is gone: salvage its index and remove the entry.
    DropEntry,
    UndoMaking,
    CompleteRemoval {
        salvage: Option<RefName>,
    },
    CompleteRestoring {
        salvage: RefName,
    },
    Refuse(WorktreeRefusal),
}

/// Why the wanted worktree can neither be used nor made at its path. Nothing is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeRefusal {
    /// A file, a device or the like.
    NotAFolder,
    /// The folder has files, and git does not list it.
    NotListed,
    /// The folder has a repository of its own.
    OwnRepository,
    /// The folder is a worktree of another repository.
    ForeignWorktree,
    /// The folder is a copy of the worktree at this path.
    CopyOf { original: PathBuf },
    /// The folder is gone, and the worktree is locked.
    LockedAndGone { reason: String },
    /// Another branch is checked out, or none.
    OtherBranch { found: Option<String>, wanted: BranchName },
}

/// Decides the next step. The caller carries it out, looks again, and asks again.
pub fn next_step(found: &FoundWorktree, wanted: &BranchName) -> NextStep {
    match &found.entry {
        Some(entry) => step_for_entry(found, entry, wanted),
        None => step_without_entry(found),
    }
}

fn step_for_entry(found: &FoundWorktree, entry: &ListedWorktree, wanted: &BranchName) -> NextStep {
    match entry.locked.as_deref().and_then(UnfinishedStep::from_reason) {
        Some(UnfinishedStep::Making) => return NextStep::UndoMaking,
        Some(UnfinishedStep::Removing { salvage }) => return NextStep::CompleteRemoval { salvage },
        Some(UnfinishedStep::Restoring { salvage }) => {
            return NextStep::CompleteRestoring { salvage };
        }
        None => {}
    }
    match (found.content, &entry.locked) {
        (FolderContent::NotAFolder, _) => NextStep::Refuse(WorktreeRefusal::NotAFolder),
        (FolderContent::Missing | FolderContent::Empty, Some(reason)) => {
            NextStep::Refuse(WorktreeRefusal::LockedAndGone { reason: reason.clone() })
        }
        (FolderContent::Missing | FolderContent::Empty, None) => NextStep::DropEntry,
        (FolderContent::Files, _) => step_for_folder(found, entry, wanted),
    }
}

fn step_for_folder(found: &FoundWorktree, entry: &ListedWorktree, wanted: &BranchName) -> NextStep {
    match &found.link {
        GitLink::Missing | GitLink::Broken => NextStep::Repair,
        GitLink::Repository => NextStep::Refuse(WorktreeRefusal::OwnRepository),
        GitLink::Foreign => NextStep::Refuse(WorktreeRefusal::ForeignWorktree),
        GitLink::Worktree { expected_at, .. } if expected_at.as_ref() != Some(&found.path) => {
            NextStep::Repair
        }
        GitLink::Worktree { .. } if entry.branch.as_deref() == Some(wanted.as_str()) => {
            NextStep::Reuse
        }
        GitLink::Worktree { .. } => NextStep::Refuse(WorktreeRefusal::OtherBranch {
            found: entry.branch.clone(),
            wanted: wanted.clone(),
        }),
    }
}

fn step_without_entry(found: &FoundWorktree) -> NextStep {
    let refuse = |refusal| NextStep::Refuse(refusal);
    match (found.content, &found.link) {
        (FolderContent::Missing | FolderContent::Empty, _) => NextStep::Create,
        (FolderContent::NotAFolder, _) => refuse(WorktreeRefusal::NotAFolder),
        (_, GitLink::Worktree { expected_at: Some(original), is_occupied: true }) => {
            refuse(WorktreeRefusal::CopyOf { original: original.clone() })
        }
        (_, GitLink::Worktree { .. }) => NextStep::Repair,
        (_, GitLink::Repository) => refuse(WorktreeRefusal::OwnRepository),
        (_, GitLink::Foreign) => refuse(WorktreeRefusal::ForeignWorktree),
        (_, GitLink::Missing | GitLink::Broken) => refuse(WorktreeRefusal::NotListed),
    }
}

impl WorktreeRefusal {
    /// Returns the error for a worktree at this path.
    pub fn at(self, path: &Path) -> Error {
        let path = quoted(path);
        let refused = |what: &str| Error::conflict(format!("`{path}` {what}"));
        let move_away = format!("move it away: `mv {path} {path}.old`");
        match self {
            Self::NotAFolder => refused("is not a folder").hint(move_away),
            Self::NotListed => refused("has files, and git does not list it as a worktree")
                .caused_by("Segue deletes no folder that git does not list")
                .hint(move_away),
            Self::OwnRepository => {
                refused("has a repository of its own, and is not the wanted worktree")
                    .hint(move_away)
            }
            Self::ForeignWorktree => refused("is a worktree of another repository").hint(move_away),
            Self::CopyOf { original } => {
                refused(&format!("is a copy of the worktree at `{}`", quoted(&original)))
                    .hint(move_away)
            }
            Self::LockedAndGone { reason } => {
                let reason = if reason.is_empty() { "no reason was given" } else { &reason };
                refused("is a locked worktree, and its folder is gone")
                    .caused_by(reason)
                    .hint(format!("run `git worktree unlock {path}` if it will not come back"))
            }
            Self::OtherBranch { found, wanted } => other_branch(&path, found, &wanted),
        }
    }
}

fn other_branch(path: &str, found: Option<String>, wanted: &BranchName) -> Error {
    let found = match found {
        Some(branch) => format!("is on branch `{branch}`"),
        None => "is on no branch (its HEAD is detached)".to_owned(),
    };
    // A name of a branch may have characters that a shell acts on.
    let word = quoted(Path::new(wanted.as_str()));
    Error::conflict(format!("the worktree `{path}` {found}, not on branch `{wanted}`"))
        .hint(format!("run `git -C {path} switch {word}`, or use another branch"))
}

#[cfg(test)]
mod tests;
