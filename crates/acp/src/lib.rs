//! The ACP agent: an editor uses Segue's sessions as agents of its own, on standard input and output.
//!
//! The agent holds no rules. It sends the requests of the editor to the daemon through the port
//! [`EditorPort`], and the conversation to the editor as it is in the transcript. The types of the
//! protocol are written here, in `protocol`; the tests compare the messages with the schema that
//! the protocol publishes.

mod agent;
mod content;
mod editor;
mod following;
mod options;
mod permissions;
mod port;
mod prompting;
mod protocol;
mod servers;
mod session_uri;
mod stdio;
mod updates;

pub use agent::AcpSettings;
pub use port::{EditorPort, FeedStart, SessionEventFeed, TurnFeed};
pub use session_uri::session_uri;
pub use stdio::serve;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;
