//! Worktrees, clones and salvages with real git.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod branches;
mod files;
mod salvages;
mod states;
mod support;
