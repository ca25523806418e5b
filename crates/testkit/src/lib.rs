//! Test environments, fakes and contract suites.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot even set its world up shall stop at once"
)]

pub mod chance;
pub mod contract;
pub mod conversation;
pub mod events;
pub mod hold;
pub mod isolation;
pub mod launches;
pub mod model;
pub mod passing;
pub mod processes;
pub mod report;
pub mod scene;
pub mod stand_in;
pub mod terminal;
pub mod vendors;
mod wait;
pub mod world;

pub use isolation::isolated;
pub use model::Model;
pub use report::Report;
pub use terminal::Terminal;
pub use world::{Outcome, World};
