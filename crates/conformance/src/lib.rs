//! What is asked of every vendor's real program: one list of behaviours, tried against a scripted
//! model in a world where nothing is anybody's own.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a behaviour that is not shown stops its own process at once, and says why"
)]

mod behaviours;
pub mod events;
pub mod expectation;
pub mod isolation;
pub mod model;
pub mod processes;
pub mod report;
pub mod terminal;
mod trial;
mod verdict;
pub mod wait;
pub mod world;

pub use behaviours::{BEHAVIOURS, Behaviour};
pub use model::Model;
pub use report::Report;
pub use terminal::Terminal;
pub use trial::{KEY, Trial, install, prepare};
pub use verdict::{Cell, SUBCOMMAND, Setting, Verdict, check, show};
pub use world::{Outcome, World};
