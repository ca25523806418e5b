//! Looks at the path of a wanted worktree.

use std::path::Path;

use segue_core::Result;
use segue_core::rules::worktrees::FoundWorktree;

use crate::layout::{self, RepositoryFolders};
use crate::listing;
use crate::program::Git;

/// Returns what is at a path, which has no symlinks.
pub(crate) async fn look(
    git: &Git,
    repository: &RepositoryFolders,
    path: &Path,
) -> Result<FoundWorktree> {
    Ok(FoundWorktree {
        path: path.to_owned(),
        content: layout::content(path),
        link: repository.link_in(path),
        entry: listing::find(git, repository, path).await?,
    })
}
