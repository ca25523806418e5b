//! The holder: the small process that owns one launch's terminal.
//!
//! [`run_holder`] is that process, [`exec_agent`] the step between it and the agent.
//! [`LocalHolders`] starts holders and sends them requests. [`LocalTerminals`] opens streams of
//! their terminals, and [`attach`] shows such a stream on a user's terminal.

mod abandon;
mod asking;
mod attach;
mod client;
mod connect;
mod descriptors;
mod exec;
mod force;
mod holder;
mod holder_connection;
mod holder_process;
mod order;
mod session_lock;
mod spawn;
mod stream;
mod styled_lines;
mod terminal;
mod typing;
mod waiting;
mod wire;

pub use asking::ask_person;
pub use attach::{AttachEnd, UserTerminal, attach};
pub use client::LocalHolders;
pub use exec::exec_agent;
pub use holder::run_holder;
pub use order::{LiveProcesses, socket_path};
pub(crate) use spawn::{held_launch, is_holder_of};
pub use stream::LocalTerminals;
pub use terminal::{Size, Snapshot, SnapshotCursor};
