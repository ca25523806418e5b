//! Brings a worktree into the wanted state, step by step. After each step the disk is looked at
//! again, so the same code continues after a process that was killed between two steps.

use std::path::Path;

use segue_core::model::{
    BranchName, CheckoutNotice, EnsuredWorktree, ListedWorktree, RefName, Salvage, WorktreeChanges,
    WorktreeOrigin, WorktreeSpec,
};
use segue_core::ports::{GitCaller, RestorationOrder};
use segue_core::rules::shell::quoted;
use segue_core::rules::worktrees::{
    FolderContent, FoundWorktree, NextStep, UnfinishedStep, next_step,
};
use segue_core::{Error, Result};

use crate::create::Creation;
use crate::found;
use crate::layout;
use crate::locked::LockedRepository;
use crate::provision;
use crate::removal::{self, KnownContent};
use crate::salvage;
use crate::worktree;

/// Maximum number of steps. A worktree needs at most three: complete, repair, create.
const MOST_STEPS: usize = 6;

/// Returns the wanted worktree. Its notices begin with `notices`, which earlier steps have returned.
pub(crate) async fn ensure(
    repository: &LockedRepository<'_>,
    spec: &WorktreeSpec,
    caller: &GitCaller,
    notices: Vec<CheckoutNotice>,
) -> Result<EnsuredWorktree> {
    let path = layout::real(&spec.path);
    let notices = removed_locks(repository).chain(notices).collect();
    let mut ensuring = Ensuring { repository, spec, caller, path: &path, notices };
    let mut origin = WorktreeOrigin::Existing;
    for _ in 0..MOST_STEPS {
        let found = found::look(repository.git, &repository.folders, &path).await?;
        match next_step(&found, &spec.branch) {
            NextStep::Reuse => return ensuring.describe(found, origin).await,
            NextStep::Refuse(refusal) => return Err(refusal.at(&path)),
            step => origin = ensuring.carry_out(step, &found).await?.unwrap_or(origin),
        }
    }
    let shown = path.display();
    Err(Error::unavailable(format!("the worktree `{shown}` cannot be brought into order"))
        .caused_by("git does not list it as expected, also after a repair")
        .hint("run `git worktree list` and `git worktree repair` in the repository"))
}

fn removed_locks(repository: &LockedRepository<'_>) -> impl Iterator<Item = CheckoutNotice> {
    let removed = repository.removed_locks.iter().cloned();
    removed.map(|path| CheckoutNotice::LockFileRemoved { path })
}

/// Makes the worktree of a salvage again. An interrupted attempt is undone first. The notices begin
/// with `notices`, which earlier steps have returned.
pub(crate) async fn restore(
    repository: &LockedRepository<'_>,
    order: &RestorationOrder,
    caller: &GitCaller,
    mut notices: Vec<CheckoutNotice>,
) -> Result<EnsuredWorktree> {
    let wanted = &order.salvage;
    let (git, folders) = (repository.git, &repository.folders);
    let (salvaged, _) = salvage::read(git, folders, wanted).await?;
    let path = layout::real(&salvaged.path);
    let found = found::look(git, folders, &path).await?;
    let unfinished = |it: &ListedWorktree| UnfinishedStep::from_reason(it.locked.as_deref()?);
    match &found.entry {
        Some(entry) => match unfinished(entry) {
            Some(
                UnfinishedStep::Restoring { salvage }
                | UnfinishedStep::Removing { salvage: Some(salvage) },
            ) if salvage == *wanted => {
                let known = KnownContent::Salvage(salvage);
                let rest = removal::discard(repository, entry, &known, &[]).await?;
                notices.extend(rest.map(undone));
            }
            _ => return Err(occupied(&path)),
        },
        None if matches!(found.content, FolderContent::Missing | FolderContent::Empty) => {}
        None => return Err(occupied(&path)),
    }
    let branch = order.branch.as_ref();
    salvage::restore(repository, caller, wanted, branch).await?;
    let listed = worktree::listed_at(git, folders, &path).await?;
    let worktree = worktree::folders(folders, &listed)?;
    Ok(EnsuredWorktree {
        changes: worktree::changes(git, repository.scratch, &worktree, &listed).await?,
        operation: layout::operation(&worktree.admin).map(|(operation, _)| operation),
        path,
        branch: listed.branch.clone(),
        head: listed.head,
        origin: WorktreeOrigin::Restored { salvage: wanted.clone() },
        notices: removed_locks(repository).chain(notices).collect(),
    })
}

fn undone(rest: Salvage) -> CheckoutNotice {
    CheckoutNotice::AttemptUndone { salvage: Some(rest) }
}

fn occupied(path: &Path) -> Error {
    let path = quoted(path);
    Error::conflict(format!("`{path}` exists, and a restored worktree replaces nothing"))
        .hint(format!("move it away: `mv {path} {path}.old`"))
}

struct Ensuring<'a> {
    repository: &'a LockedRepository<'a>,
    spec: &'a WorktreeSpec,
    caller: &'a GitCaller,
    path: &'a Path,
    notices: Vec<CheckoutNotice>,
}

impl Ensuring<'_> {
    /// Carries out a step. Returns where the worktree comes from if the step made it.
    async fn carry_out(
        &mut self,
        step: NextStep,
        found: &FoundWorktree,
    ) -> Result<Option<WorktreeOrigin>> {
        let repository = self.repository;
        match step {
            NextStep::Create => return self.create().await.map(Some),
            NextStep::Repair => {
                repository.repair(self.path).await?;
                self.notices.push(CheckoutNotice::Repaired { path: self.path.to_owned() });
            }
            NextStep::DropEntry => {
                let salvage = removal::drop_entry(repository, entry(found)?).await?;
                self.notices.push(CheckoutNotice::FolderWasGone { salvage });
            }
            NextStep::UndoMaking => {
                let salvage = self.discard(found, &KnownContent::Commit).await?;
                self.notices.push(CheckoutNotice::AttemptUndone { salvage });
            }
            NextStep::CompleteRemoval { salvage } => {
                let known = salvage.map_or(KnownContent::Branch, KnownContent::Salvage);
                let salvage = self.discard(found, &known).await?;
                self.notices.push(CheckoutNotice::RemovalCompleted { salvage });
            }
            NextStep::CompleteRestoring { salvage } => {
                let branch = self.new_branch(found, &salvage).await?;
                let rest = self.discard(found, &KnownContent::Salvage(salvage.clone())).await?;
                self.notices.extend(rest.map(undone));
                salvage::restore(repository, self.caller, &salvage, branch.as_ref()).await?;
                return Ok(Some(WorktreeOrigin::Restored { salvage }));
            }
            NextStep::Reuse | NextStep::Refuse(_) => {}
        }
        Ok(None)
    }

    async fn discard(
        &self,
        found: &FoundWorktree,
        known: &KnownContent,
    ) -> Result<Option<Salvage>> {
        let include = &self.spec.provision.include;
        removal::discard(self.repository, entry(found)?, known, include).await
    }

    /// Returns the new branch on which an interrupted attempt restored a salvage. `None` if the
    /// attempt used the salvage's own branch.
    async fn new_branch(
        &self,
        found: &FoundWorktree,
        reference: &RefName,
    ) -> Result<Option<BranchName>> {
        let Some(branch) = &entry(found)?.branch else { return Ok(None) };
        let (git, folders) = (self.repository.git, &self.repository.folders);
        let (salvage, _) = salvage::read(git, folders, reference).await?;
        Ok(BranchName::parse(branch).ok().filter(|it| salvage.branch.as_ref() != Some(it)))
    }

    async fn create(&mut self) -> Result<WorktreeOrigin> {
        let Self { repository, spec, caller, path, .. } = *self;
        let origin = Creation { repository, caller, spec, path }.make().await?;
        let skipped = provision::provide(repository, &spec.provision, path).await?;
        self.notices.extend(skipped);
        repository.end_step(path).await?;
        Ok(origin)
    }

    async fn describe(
        mut self,
        found: FoundWorktree,
        origin: WorktreeOrigin,
    ) -> Result<EnsuredWorktree> {
        let Self { repository, .. } = self;
        let listed = found.entry.ok_or_else(unlisted)?;
        let folders = worktree::folders(&repository.folders, &listed)?;
        // A new worktree has no changes.
        let changes = match origin {
            WorktreeOrigin::Existing | WorktreeOrigin::Restored { .. } => {
                worktree::changes(repository.git, repository.scratch, &folders, &listed).await?
            }
            _ => WorktreeChanges::default(),
        };
        if folders.checkout.join(".gitmodules").is_file() {
            self.notices.push(CheckoutNotice::HasSubmodules);
        }
        Ok(EnsuredWorktree {
            path: folders.checkout,
            branch: listed.branch,
            head: listed.head,
            origin,
            changes,
            operation: layout::operation(&folders.admin).map(|(operation, _)| operation),
            notices: self.notices,
        })
    }
}

fn entry(found: &FoundWorktree) -> Result<&ListedWorktree> {
    found.entry.as_ref().ok_or_else(unlisted)
}

fn unlisted() -> Error {
    Error::internal("git does not list the worktree")
}
