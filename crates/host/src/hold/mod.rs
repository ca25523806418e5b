//! The holder: the small process that owns one launch's terminal.
//!
//! [`run_holder`] is that process, [`exec_agent`] the step between it and the agent.
//! [`LocalHolders`] starts holders and talks to them. [`LocalTerminals`] opens streams of their
//! terminals, and [`attach`] shows such a stream on a user's terminal.

mod abandon;
mod attach;
mod client;
mod descriptors;
mod exec;
mod force;
mod holder;
mod line;
mod order;
mod reach;
mod recorded;
mod session_lock;
mod spawn;
mod stream;
mod styled_lines;
mod terminal;
mod typing;
mod wire;

pub use attach::{AttachEnd, UserTerminal, attach};
pub use client::LocalHolders;
pub use exec::exec_agent;
pub use holder::run_holder;
pub use order::{Live, socket_path};
pub(crate) use spawn::{held_launch, is_holder_of};
pub use stream::LocalTerminals;
pub use terminal::{Cursor, Size, Snapshot};
