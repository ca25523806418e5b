//! The operations on sessions, tasks and worktrees. They access the outside world only through the
//! ports.
//!
//! The caller owns a session's [`SessionState`] and runs one operation at a time, so the operations
//! need no locks.

pub mod adopt;
pub mod agent;
pub mod archive;
pub mod attention;
pub mod bringing_back;
pub mod browsers;
pub mod caller_environment;
pub mod commands;
pub mod conversation;
pub mod create;
pub mod credentials;
pub mod deliveries;
pub mod dispatch;
pub mod doctor;
mod elsewhere;
pub mod endangered;
pub mod environment;
pub mod guard;
pub mod handoff;
pub mod handoff_chain;
pub mod housekeeping;
pub mod last_output;
pub mod launch;
pub mod list;
pub mod look;
pub mod machines;
pub mod messages;
pub mod naming;
pub mod observe;
pub mod open_elsewhere;
pub mod options;
pub mod plans;
pub mod projects;
mod put_back;
pub mod rename;
pub mod repetition;
pub mod replies;
pub mod requests;
pub mod restore;
pub mod resume;
pub mod run;
pub mod salvage;
#[cfg(test)]
pub(crate) mod samples;
pub mod scale;
pub mod select;
pub mod settings;
pub mod shares;
pub mod state;
pub mod stop;
pub mod tasks;
pub mod tokens;
pub mod trust;
mod unattended;
pub mod unknown_conversations;
pub mod up;
pub mod usage;
pub mod view;
pub mod worktrees;

pub use state::SessionState;
