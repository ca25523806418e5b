//! Decisions about worktrees: where a worktree is, what its branch is made from, and what the state
//! that is found on disk means.

mod branch;
mod found;
mod notice;
mod output;
mod path;
mod port;
mod unfinished;

pub use branch::{BranchCase, BranchConflict, BranchFacts, PullRequestBranch, branch_case};
pub use found::{FolderContent, FoundWorktree, GitLink, NextStep, WorktreeRefusal, next_step};
pub use notice::{earlier_work, notice, origin};
pub use output::end_of_output;
pub use path::{clone_name, salvage_key, worktree_path};
pub use port::choose_port;
pub use unfinished::UnfinishedStep;
