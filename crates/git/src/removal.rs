//! Removes worktrees. Nothing is removed unless all of it is stored elsewhere.

use std::fs;
use std::path::Path;

use segue_core::model::{ListedWorktree, RefName, Salvage, SalvageOutcome};
use segue_core::ports::RemovalOrder;
use segue_core::rules::shell::quoted;
use segue_core::rules::worktrees::{FolderContent, GitLink, UnfinishedStep, WorktreeRefusal};
use segue_core::{Error, Kind, Result};

use crate::failure::cannot;
use crate::layout;
use crate::locked::LockedRepository;
use crate::salvage::{self, Salvaging};
use crate::view::{FileReading, View, WorktreeFolders};
use crate::worktree;

/// Where all content of a worktree is stored, according to an interrupted step.
#[derive(Clone, Debug)]
pub(crate) enum KnownContent {
    /// In the commit that is checked out: the worktree was not used yet.
    Commit,
    /// In the branch that is checked out: the worktree was clean.
    Branch,
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
        return finish(repository, &listed, known, &order.include).await;
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

/// Returns where an interrupted step has stored the content. `None` without such a step. Fails if the
/// user has locked the worktree.
fn unfinished(listed: &ListedWorktree) -> Result<Option<KnownContent>> {
    let Some(reason) = &listed.locked else { return Ok(None) };
    match UnfinishedStep::from_reason(reason) {
        Some(UnfinishedStep::Making) => Ok(Some(KnownContent::Commit)),
        Some(UnfinishedStep::Removing { salvage: None }) => Ok(Some(KnownContent::Branch)),
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
    include: &[String],
) -> Result<SalvageOutcome> {
    let complete = match &known {
        KnownContent::Salvage(reference) => read_unless_expired(repository, reference).await?,
        KnownContent::Commit | KnownContent::Branch => None,
    };
    let rest = discard(repository, listed, &known, include).await?;
    let nothing = || SalvageOutcome::NothingToSalvage { branch: None, head: listed.head.clone() };
    Ok(complete.or(rest).map_or_else(nothing, SalvageOutcome::Made))
}

async fn read_unless_expired(
    repository: &LockedRepository<'_>,
    reference: &RefName,
) -> Result<Option<Salvage>> {
    match salvage::read(repository.git, &repository.folders, reference).await {
        Ok((salvage, _)) => Ok(Some(salvage)),
        Err(error) if error.kind == Kind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes a worktree whose content is stored already. If it has anything else, that is salvaged
/// first and returned. `include` are patterns of ignored files.
pub(crate) async fn discard(
    repository: &LockedRepository<'_>,
    listed: &ListedWorktree,
    known: &KnownContent,
    include: &[String],
) -> Result<Option<Salvage>> {
    let path = layout::real(&listed.path);
    prepare(repository, &path).await?;
    let rest = salvage_rest(repository, listed, known, include).await?;
    repository.remove_worktree(&path).await?;
    Ok(rest)
}

async fn salvage_rest(
    repository: &LockedRepository<'_>,
    listed: &ListedWorktree,
    known: &KnownContent,
    include: &[String],
) -> Result<Option<Salvage>> {
    let folders = worktree::folders(&repository.folders, listed)?;
    let head = listed.head.as_ref();
    let view =
        View::open(repository.git, repository.scratch, &folders, head, FileReading::Raw).await?;
    let rest = WorktreeRest { repository, listed, folders: &folders, view: &view };
    let include = &rest.patterns(known, include).await?;
    if rest.is_known(known, include).await? {
        return Ok(None);
    }
    let is_remainder = matches!(known, KnownContent::Salvage(_));
    let salvaging = Salvaging { repository, listed, include, is_remainder };
    Ok(salvaging.take().await?.salvage().cloned())
}

/// What is left of a worktree after an interrupted step.
#[derive(Clone, Copy)]
struct WorktreeRest<'a> {
    repository: &'a LockedRepository<'a>,
    listed: &'a ListedWorktree,
    folders: &'a WorktreeFolders,
    view: &'a View<'a>,
}

impl WorktreeRest<'_> {
    /// Returns the patterns together with those of the salvage.
    async fn patterns(self, known: &KnownContent, include: &[String]) -> Result<Vec<String>> {
        let mut patterns = include.to_vec();
        if let KnownContent::Salvage(reference) = known {
            let git = self.repository.git;
            match salvage::read(git, &self.repository.folders, reference).await {
                Ok((_, metadata)) => patterns.extend(metadata.include),
                Err(error) if error.kind == Kind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(patterns)
    }

    /// Returns whether all files, staged files and commits are stored elsewhere.
    async fn is_known(self, known: &KnownContent, include: &[String]) -> Result<bool> {
        let Self { repository, listed, folders, view } = self;
        let (has_files, commit) = match known {
            KnownContent::Commit | KnownContent::Branch => {
                let is_unused = matches!(known, KnownContent::Commit);
                let head = listed.head.clone().filter(|_| is_unused);
                (salvage::is_part_of_commit(view, folders, include).await?, head)
            }
            KnownContent::Salvage(reference) => {
                let commit = repository.refs().commit(reference.as_str()).await?;
                // The salvage has expired. Everything is salvaged again.
                let Some(commit) = commit else { return Ok(false) };
                let has_files =
                    salvage::is_part_of_salvage(view, folders, &commit, include).await?;
                (has_files, Some(commit))
            }
        };
        let branch = listed.branch.as_deref();
        let kept = salvage::kept_commits(repository, folders, branch, commit.as_ref()).await?;
        Ok(has_files && kept.is_empty())
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
    if layout::content(&path) != FolderContent::Missing {
        let path = quoted(&path);
        return Err(Error::conflict(format!("`{path}` was gone, and exists again"))
            .hint("try again when no other program changes it"));
    }
    repository.remove_worktree(&path).await?;
    Ok(outcome.salvage().cloned())
}

/// Makes a worktree such that git can remove it: an empty folder is removed, and a missing or
/// broken `.git` is repaired. Fails if the folder belongs to another repository.
async fn prepare(repository: &LockedRepository<'_>, path: &Path) -> Result<()> {
    remove_empty_folder(path)?;
    if layout::content(path) != FolderContent::Files {
        return Ok(());
    }
    match repository.folders.link_in(path) {
        GitLink::Worktree { expected_at: Some(at), .. } if at == path => Ok(()),
        GitLink::Repository => Err(WorktreeRefusal::OwnRepository.at(path)),
        GitLink::Foreign => Err(WorktreeRefusal::ForeignWorktree.at(path)),
        GitLink::Worktree { .. } | GitLink::Missing | GitLink::Broken => {
            repository.repair(path).await
        }
    }
}

fn remove_empty_folder(path: &Path) -> Result<()> {
    match layout::content(path) {
        FolderContent::Empty => {
            fs::remove_dir(path).map_err(|error| cannot("remove", path, &error))
        }
        _ => Ok(()),
    }
}
