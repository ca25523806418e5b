//! The verbs, each written against the ports alone.
//!
//! Whoever calls them owns the session's [`SessionState`] and calls one at a time; that is what makes
//! them simple.

pub mod adopt;
pub mod archive;
pub mod bringing_back;
pub mod conversation;
pub mod doctor;
mod elsewhere;
pub mod guard;
pub mod handoff;
pub mod last_words;
pub mod launch;
pub mod look;
pub mod messages;
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
