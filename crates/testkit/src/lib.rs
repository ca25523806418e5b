//! Test environments, fakes and contract suites.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot even set its world up shall stop at once"
)]

pub mod acting;
pub mod archive;
pub mod chance;
pub mod contract;
pub mod conversation;
pub mod handoffs;
pub mod hold;
pub mod isolation;
pub mod launches;
pub mod passing;
pub mod raw_client;
pub mod scene;
pub mod stand_in;
pub mod vendors;

pub use isolation::isolated;
pub use raw_client::RawClient;
pub use segue_conformance::{
    Model, Outcome, Report, Terminal, World, events, model, processes, report, terminal, wait,
    world,
};
