//! Worktrees, clones and salvages with real git.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a panic fails the test")]

mod agent_settings;
mod any_changes;
mod branches;
mod clones;
mod crashes;
mod disks;
mod files;
mod hidden_changes;
mod hostile;
mod inspection;
mod locks;
mod provisions;
mod restorations;
mod salvages;
mod stale_clones;
mod states;
mod support;
mod victims;
