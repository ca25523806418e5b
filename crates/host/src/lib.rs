//! This machine: holders, terminals, processes, files, clock.

mod failure;

pub mod atomic;
pub mod descriptor;
pub mod hold;
pub mod lock;
pub mod paths;
pub mod process;
pub mod socket;
pub mod surroundings;

pub use paths::Paths;
pub use surroundings::Surroundings;
