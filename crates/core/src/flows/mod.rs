//! The operations on sessions. They access the outside world only through the ports.
//!
//! The caller owns the session's [`SessionState`] and runs one operation at a time, so that the
//! operations need no locks.

pub mod adopt;
pub mod archive;
pub mod bringing_back;
pub mod conversation;
pub mod create;
pub mod doctor;
mod elsewhere;
pub mod guard;
pub mod handoff;
pub mod last_words;
pub mod launch;
pub mod look;
pub mod messages;
pub mod naming;
pub mod neighbours;
pub mod observe;
pub mod open_elsewhere;
mod put_back;
pub mod restore;
pub mod salvage;
#[cfg(test)]
pub(crate) mod samples;
pub mod state;
pub mod story;
pub mod strangers;
pub mod view;

pub use state::SessionState;
