//! Test environments and contract suites. The crate `fakes` has the ports in memory.
//!
//! - A [`World`] is a temporary home, state folder and project folder, in which one test runs its
//!   own Segue.
//! - The scripted [`Model`] is an HTTP server that vendors' programs use as their model. Markers in
//!   a user message, such as `[[say: hello]]`, decide its answer.
//! - The demo agent is a vendor that is built into Segue. It needs no model.
//! - A failpoint is a named place in Segue's code. In builds with the feature `failpoints`, a test
//!   can kill or pause a process there.
//! - A guard is a hard link in a launch folder to a transcript, which survives the deletion of the
//!   vendor's file.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test whose setup fails must stop at once"
)]

pub mod acp_packages;
pub mod acting;
pub mod archive;
pub mod chance;
pub mod contract;
pub mod conversation;
pub mod dispatch_scene;
pub mod editor_client;
pub mod files;
pub mod forge_server;
pub mod git_server;
pub mod handoffs;
pub mod hold;
pub mod isolation;
pub mod launches;
mod loopback;
pub mod memory;
pub mod network_client;
pub mod passing;
pub mod past_sessions;
pub mod raw_client;
pub mod readme;
pub mod repositories;
pub mod runtime;
pub mod scene;
pub mod ssh_server;
pub mod stand_in;
pub mod tls_client;
pub mod tool_client;
pub mod vendor_scene;
pub mod vendors;
pub mod web_client;
pub mod world_store;

pub use editor_client::EditorClient;
pub use forge_server::ForgeServer;
pub use git_server::GitServer;
pub use isolation::isolated;
pub use network_client::{HttpAnswer, NetworkClient};
pub use raw_client::RawClient;
pub use segue_conformance::{
    CommandOutcome, Model, Report, Terminal, World, events, model, processes, report, terminal,
    wait, world,
};
pub use ssh_server::{SshClient, SshServer};
pub use tls_client::{TestCertificate, TlsClient};
pub use tool_client::ToolClient;
pub use web_client::{TerminalClient, WebBrowser};

/// Returns whether the environment variable `SEGUE_SOAK` asks for the long form of a test.
pub fn is_soak() -> bool {
    std::env::var_os("SEGUE_SOAK").is_some_and(|value| value == "1")
}
