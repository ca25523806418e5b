//! Test environments, fakes and contract suites.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot even set its world up shall stop at once"
)]

pub mod contract;
pub mod conversation;
pub mod processes;
pub mod terminal;
pub mod world;

pub use terminal::Terminal;
pub use world::{Outcome, World};
