//! Compares a worktree with a commit or a salvage that may contain all of it. A worktree whose removal
//! was interrupted has lost some of its files, so the worktree may have less.

use segue_core::Result;
use segue_core::model::CommitId;

use super::snapshot::{Snapshotting, WorktreeSnapshot};
use crate::objects::ObjectId;
use crate::view::{View, WorktreeFolders};

/// The trees of a salvage with the entries of the index, by their stage.
const STAGES: [&str; 4] = ["index-0", "index-1", "index-2", "index-3"];

/// Returns whether a worktree has no files and no staged files that the salvage does not have.
pub(crate) async fn is_part_of_salvage(
    view: &View<'_>,
    worktree: &WorktreeFolders,
    commit: &CommitId,
    include: &[String],
) -> Result<bool> {
    let snapshot = Snapshotting { view, worktree, include }.take().await?;
    for (stage, name) in snapshot.stages.iter().zip(STAGES) {
        let is_empty = stage.is_none();
        if !is_empty && *stage != view.object(&format!("{commit}:{name}")).await? {
            return Ok(false);
        }
    }
    let files = is_part_of(view, snapshot.files.as_ref(), &format!("{commit}:files")).await?;
    let nested = is_part_of(view, snapshot.nested.as_ref(), &format!("{commit}:nested")).await?;
    Ok(files && nested)
}

/// Returns whether a worktree has no files and no staged files but unchanged ones of the commit that
/// is checked out.
pub(crate) async fn is_part_of_commit(
    view: &View<'_>,
    worktree: &WorktreeFolders,
    include: &[String],
) -> Result<bool> {
    let WorktreeSnapshot { files, nested, stages, .. } =
        Snapshotting { view, worktree, include }.take().await?;
    let [staged, conflicts @ ..] = &stages;
    let has_more = nested.is_some() || conflicts.iter().any(Option::is_some);
    let is_staged = staged.is_some() && *staged != view.object("HEAD^{tree}").await?;
    Ok(!has_more && !is_staged && is_part_of(view, files.as_ref(), "HEAD^{tree}").await?)
}

/// Returns whether every file of a tree is, unchanged, in the tree of this name.
async fn is_part_of(view: &View<'_>, part: Option<&ObjectId>, whole: &str) -> Result<bool> {
    let Some(part) = part else { return Ok(true) };
    let whole = match view.object(whole).await? {
        Some(whole) => whole,
        None => view.write_tree(&[]).await?,
    };
    view.is_part_of(part, &whole).await
}
