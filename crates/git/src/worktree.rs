//! One existing worktree: its folders, its facts, its changes.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use segue_core::model::{Divergence, ListedWorktree, WorktreeChanges, WorktreeFacts};
use segue_core::ports::InspectDepth;
use segue_core::{Error, Result};

use crate::layout::{self, RepositoryFolders};
use crate::listing;
use crate::program::Git;
use crate::refs::Refs;
use crate::scratch::Scratch;
use crate::size;
use crate::status;
use crate::view::{FileReading, View, WorktreeFolders};

/// Returns the folders of a worktree that git lists.
pub(crate) fn folders(
    repository: &RepositoryFolders,
    listed: &ListedWorktree,
) -> Result<WorktreeFolders> {
    let checkout = layout::real(&listed.path);
    let admin = match listed.is_main {
        true => Some(repository.common.clone()),
        false => repository.admin_folder(&checkout),
    };
    let missing = || {
        let path = checkout.display();
        Error::unavailable(format!("the repository has no git folder for the worktree `{path}`"))
            .hint("run `git worktree list` in the repository to see its worktrees")
    };
    let admin = admin.ok_or_else(missing)?;
    Ok(WorktreeFolders { repository: repository.clone(), checkout, admin })
}

/// Returns the worktree at a path. Fails if git does not list it.
pub(crate) async fn listed_at(
    git: &Git,
    repository: &RepositoryFolders,
    path: &Path,
) -> Result<ListedWorktree> {
    let listed = listing::find(git, repository, &layout::real(path)).await?;
    listed.ok_or_else(|| {
        let shown = path.display();
        Error::not_found(format!("git lists no worktree at `{shown}`"))
            .hint("run `git worktree list` in the repository to see its worktrees")
    })
}

/// Counts the changed files of a worktree.
pub(crate) async fn changes(
    git: &Git,
    scratch: &Scratch,
    folders: &WorktreeFolders,
    listed: &ListedWorktree,
) -> Result<WorktreeChanges> {
    let view = View::open(git, scratch, folders, listed.head.as_ref(), FileReading::Text).await?;
    status::changes(&view).await
}

/// Returns the facts about a worktree.
pub(crate) async fn inspect(
    git: &Git,
    scratch: &Scratch,
    repository: &RepositoryFolders,
    path: &Path,
    depth: InspectDepth,
) -> Result<WorktreeFacts> {
    let listed = listed_at(git, repository, path).await?;
    let folders = folders(repository, &listed)?;
    let refs = Refs { git, repository };
    let size_bytes = match depth {
        InspectDepth::State => None,
        InspectDepth::StateAndSize => Some(size::on_disk(folders.checkout.clone()).await?),
    };
    Ok(WorktreeFacts {
        changes: changes(git, scratch, &folders, &listed).await?,
        operation: layout::operation(&folders.admin).map(|(operation, _)| operation),
        upstream: upstream(refs, &listed).await?,
        default_branch: from_default_branch(refs, &listed).await?,
        has_submodules: folders.checkout.join(".gitmodules").is_file(),
        size_bytes,
        created_at: created_at(&folders.admin),
        listed,
    })
}

async fn upstream(refs: Refs<'_>, listed: &ListedWorktree) -> Result<Option<Divergence>> {
    let Some(branch) = &listed.branch else { return Ok(None) };
    let Some(name) = refs.upstream(branch).await? else { return Ok(None) };
    divergence(refs, listed, name).await
}

async fn from_default_branch(
    refs: Refs<'_>,
    listed: &ListedWorktree,
) -> Result<Option<Divergence>> {
    let Some(remote) = refs.remote().await? else { return Ok(None) };
    match refs.default_branch(&remote).await? {
        Some((name, _)) => divergence(refs, listed, name).await,
        None => Ok(None),
    }
}

async fn divergence(
    refs: Refs<'_>,
    listed: &ListedWorktree,
    from: String,
) -> Result<Option<Divergence>> {
    let Some(head) = &listed.head else { return Ok(None) };
    let counts = refs.ahead_and_behind(head, &format!("refs/remotes/{from}")).await?;
    Ok(counts.map(|(ahead, behind)| Divergence { from, ahead, behind }))
}

/// Git writes this file once, when it makes the worktree.
fn created_at(admin: &Path) -> Option<Timestamp> {
    let modified = fs::metadata(admin.join("commondir")).ok()?.modified().ok()?;
    Timestamp::try_from(modified).ok()
}
