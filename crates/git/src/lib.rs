//! Repositories, shared clones, worktrees and salvages, by the git program of the user.
//!
//! There are three ways to run git:
//!
//! - *As the user* (`Git::as_user`): commands that the user asks for, such as a worktree in their own
//!   repository. Their configuration, hooks, filters and credential helpers work as they expect.
//! - *Bookkeeping* (`Git::bookkeeping`): lists, refs and locks of a repository, with a closed
//!   environment and with settings that switch hooks and the file system monitor off.
//! - *Through a view* (`View`): everything that reads files of a worktree. Git gets a git folder of
//!   our own and never sees the repository's configuration, so no filter can run.
//!
//! One process at a time changes a repository (`lock`). A git that changes refs or worktrees gets
//! the lock as its standard input, so that it holds the lock as long as it runs. Commands that read
//! their standard input only write objects and private files.
//!
//! Failures, and what happens then:
//!
//! - git is missing, too old, fails, hangs, or prints without end: an error with git's own message
//! - this process is killed between two steps: a worktree that is being made, removed or restored
//!   is locked with a reason that names the step, and the next call completes or undoes the step
//! - git is killed: the same; a worktree that is half-made is undone, after a salvage
//! - the disk is full or a folder is read-only: git's error; nothing is removed before its salvage
//!   is on disk and was compared
//! - a user or an agent has moved, deleted or changed files by hand: see
//!   `segue_core::rules::worktrees`; a folder that git does not list is never deleted

mod checkouts;
mod clone;
mod command;
mod confined;
mod create;
mod diff;
mod ensure;
mod environment;
mod failure;
mod found;
mod layout;
mod left_locks;
mod listing;
mod lock;
mod locked;
mod objects;
mod program;
mod provision;
mod refs;
mod removal;
mod salvage;
mod scratch;
mod size;
mod status;
mod streams;
mod view;
mod worktree;

pub use checkouts::{CheckoutFolders, GitCheckouts};
