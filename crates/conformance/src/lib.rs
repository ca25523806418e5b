//! Checks the real program of every vendor for one list of behaviours. Each behaviour is tried with
//! a scripted model, in a home that contains no file of the user.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a failed check panics; it runs in a process of its own, which prints the reason"
)]

mod behaviours;
pub mod events;
pub mod expectation;
pub mod isolation;
pub mod model;
pub mod processes;
pub mod report;
pub mod styled;
pub mod terminal;
mod trial;
mod verdict;
pub mod wait;
pub mod world;

pub use behaviours::{BEHAVIOURS, Behaviour};
pub use model::Model;
pub use report::Report;
pub use terminal::Terminal;
pub use trial::{KEY, VendorTrial, install, prepare};
pub use verdict::{BehaviourResult, BehaviourVerdict, SUBCOMMAND, Setting, check, check_here};
pub use world::{CommandOutcome, World};
