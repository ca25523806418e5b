//! Tables of what the flows do, on ports in memory.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod adopt;
mod agents;
mod archive;
mod bringing_back;
mod conversation;
mod credentials;
mod doctor;
mod endangered;
mod environment;
mod fleet;
mod handoff;
mod handoff_chain;
mod housekeeping;
mod launch;
mod list;
mod look;
mod messages;
mod observe;
mod open_elsewhere;
mod refusals;
mod restore;
mod run;
mod salvage;
mod scale;
mod scene;
mod select;
mod stored;
mod task_steps;
mod tasks;
mod unknown_conversations;
mod usage;
mod view;
mod worktree_actions;
mod worktree_commands;
mod worktrees;
