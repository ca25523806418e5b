//! Removes worktrees. Nothing is removed unless all of it is stored elsewhere.

use std::fs;
use std::path::Path;

use segue_core::model::{CommitId, ListedWorktree, RefName, Salvage, SalvageOutcome};
use segue_core::ports::RemovalOrder;
use segue_core::rules::shell::quoted;
use segue_core::rules::worktrees::{FolderContent, GitLink, UnfinishedStep};
use segue_core::{Error, Result};

use crate::failure::cannot;
use crate::layout;
use crate::locked::LockedRepository;
use crate::salvage::{self, Salvaging};
use crate::view::{FileReading, View, WorktreeFolders};
use crate::worktree;

/// Where the content of a worktree is known to be.
#[derive(Clone, Debug)]
pub(crate) enum KnownContent {
    /// In the commit that is checked out: nobody has used the worktree, or it was clean.
    Commit,
    Salvage(RefName),
}

/// Salvages a worktree, compares the salvage with it, and removes it.
pub(crate) async fn remove(
    repository: &LockedRepository<'_>,
    order: &RemovalOrder,
) -> Result<SalvageOutcome> {
    let path = layout::real(&order.place.path);
    let listed = worktree::listed_at(repository.git, &repository.folders, &path).await?;
    refuse_use(&listed, order)?;
    if let Some(known) = unfinished(&listed)? {
        return finish(repository, &listed, known).await;
    }
    prepare(repository, &path).await?;
    let include = &order.include;
    let salvaging = Salvaging { repository, listed: &listed, include, is_remainder: false };
    let outcome = salvaging.take().await?;
    let reference = outcome.salvage().map(|salvage| salvage.reference.clone());
    let step = UnfinishedStep::Removing { salvage: reference };
    repository.begin_step(&path, &step).await?;
    repository.remove_worktree(&path).await?;
    Ok(outcome)
}

fn refuse_use(listed: &ListedWorktree, order: &RemovalOrder) -> Result<()> {
    let path = quoted(&listed.path);
    if let Some(session) = &order.used_by {
        return Err(Error::conflict(format!("session `{session}` uses the worktree `{path}`"))
            .hint(format!("run `segue stop {session}` first")));
    }
    if listed.is_main {
        return Err(Error::usage(format!("`{path}` is the repository itself, not a worktree")));
    }
    Ok(())
}

/// Returns what an earlier, interrupted step says about the content. Fails if the user has locked
/// the worktree.
fn unfinished(listed: &ListedWorktree) -> Result<Option<KnownContent>> {
    let Some(reason) = &listed.locked else { return Ok(None) };
    match UnfinishedStep::from_reason(reason) {
        Some(UnfinishedStep::Making | UnfinishedStep::Removing { salvage: None }) => {
            Ok(Some(KnownContent::Commit))
        }
        Some(
            UnfinishedStep::Removing { salvage: Some(salvage) }
            | UnfinishedStep::Restoring { salvage },
        ) => Ok(Some(KnownContent::Salvage(salvage))),
        None => {
            let path = quoted(&listed.path);
            let reason = if reason.is_empty() { "no reason was given" } else { reason };
            Err(Error::conflict(format!("the worktree `{path}` is locked"))
                .caused_by(reason)
                .hint(format!("run `git worktree unlock {path}` if it may be removed")))
        }
    }
}

/// Completes an interrupted step with a removal.
async fn finish(
    repository: &LockedRepository<'_>,
    listed: &ListedWorktree,
    known: KnownContent,
) -> Result<SalvageOutcome> {
    let rest = discard(repository, listed, &known).await?;
    let nothing = || SalvageOutcome::NothingToSalvage { branch: None, head: listed.head.clone() };
    match known {
        KnownContent::Commit => Ok(rest.map_or_else(nothing, SalvageOutcome::Made)),
        KnownContent::Salvage(reference) => {
            let found = salvage::read(repository.git, &repository.folders, &reference).await?;
            Ok(SalvageOutcome::Made(found.0))
        }
    }
}

/// Removes a worktree whose content is stored already. If it has anything else, that is salvaged
/// first and returned.
pub(crate) async fn discard(
    repository: &LockedRepository<'_>,
    listed: &ListedWorktree,
    known: &KnownContent,
) -> Result<Option<Salvage>> {
    let path = layout::real(&listed.path);
    prepare(repository, &path).await?;
    let rest = match layout::content(&path) {
        FolderContent::Files => salvage_rest(repository, listed, known).await?,
        _ => None,
    };
    repository.remove_worktree(&path).await?;
    Ok(rest)
}

async fn salvage_rest(
    repository: &LockedRepository<'_>,
    listed: &ListedWorktree,
    known: &KnownContent,
) -> Result<Option<Salvage>> {
    let folders = worktree::folders(&repository.folders, listed)?;
    let head = listed.head.as_ref();
    let view =
        View::open(repository.git, repository.scratch, &folders, head, FileReading::Raw).await?;
    if is_known(repository, &view, &folders, known).await? {
        return Ok(None);
    }
    let is_remainder = matches!(known, KnownContent::Salvage(_));
    let salvaging = Salvaging { repository, listed, include: &[], is_remainder };
    Ok(salvaging.take().await?.salvage().cloned())
}

async fn is_known(
    repository: &LockedRepository<'_>,
    view: &View<'_>,
    folders: &WorktreeFolders,
    known: &KnownContent,
) -> Result<bool> {
    let reference = match known {
        KnownContent::Commit => return salvage::is_part_of_commit(view, folders).await,
        KnownContent::Salvage(reference) => reference,
    };
    let commit: Option<CommitId> = repository.refs().commit(reference.as_str()).await?;
    match commit {
        Some(commit) => salvage::is_part_of_salvage(view, folders, &commit).await,
        // The salvage has expired. Everything is salvaged again.
        None => Ok(false),
    }
}

/// Removes git's entry of a worktree whose folder is gone. Its index and the state of operations
/// are salvaged first.
pub(crate) async fn drop_entry(
    repository: &LockedRepository<'_>,
    listed: &ListedWorktree,
) -> Result<Option<Salvage>> {
    let path = layout::real(&listed.path);
    let salvaging = Salvaging { repository, listed, include: &[], is_remainder: false };
    let outcome = salvaging.take().await?;
    remove_empty_folder(&path)?;
    repository.remove_worktree(&path).await?;
    Ok(outcome.salvage().cloned())
}

/// Makes a worktree such that git can remove it: an empty folder is removed, and a missing or
/// broken `.git` is repaired.
async fn prepare(repository: &LockedRepository<'_>, path: &Path) -> Result<()> {
    remove_empty_folder(path)?;
    let has_files = layout::content(path) == FolderContent::Files;
    let link = repository.folders.link_in(path);
    let is_right = matches!(&link, GitLink::Worktree { expected_at: Some(at), .. } if at == path);
    if has_files && !is_right {
        repository.repair(path).await?;
    }
    Ok(())
}

fn remove_empty_folder(path: &Path) -> Result<()> {
    match layout::content(path) {
        FolderContent::Empty => {
            fs::remove_dir(path).map_err(|error| cannot("remove", path, &error))
        }
        _ => Ok(()),
    }
}
