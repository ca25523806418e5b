//! Decisions, as pure functions: facts in, decision out.

pub mod accounts;
pub mod address;
pub mod archive;
pub mod attention;
pub mod bringing_back;
pub mod carry;
pub mod delivery;
pub mod dialog;
pub mod digest;
pub mod environment;
pub mod handoff;
pub mod lifecycle;
pub mod naming;
pub mod origin;
pub mod recovery;
pub mod redaction;
pub mod restarts;
pub mod salvage;
pub mod scale;
pub mod scope;
pub mod secrets;
mod shapes;
pub mod story;
pub mod timers;
pub mod trust;
pub mod versions;
pub mod words;
