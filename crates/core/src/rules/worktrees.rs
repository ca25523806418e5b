//! Decisions about worktrees: where a worktree is, what its branch is made from, and what the state
//! that is found on disk means.

mod branch;
mod found;
mod path;
mod unfinished;

pub use branch::{BranchCase, BranchConflict, BranchFacts, PullRequestBranch, branch_case};
pub use found::{FolderContent, FoundWorktree, GitLink, NextStep, WorktreeRefusal, next_step};
pub use path::{clone_name, salvage_key, worktree_path};
pub use unfinished::UnfinishedStep;
