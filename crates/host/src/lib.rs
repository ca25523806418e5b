//! This machine: holders, terminals, processes, files, clock.

mod failure;
mod folder;
mod git;
mod leftovers;

pub mod atomic;
pub mod clock;
pub mod descriptor;
pub mod files;
pub mod hold;
pub mod lock;
pub mod machine;
pub mod paths;
pub mod process;
pub mod programs;
pub mod scope;
pub mod socket;
pub mod surroundings;

pub use clock::SystemClock;
pub use files::LocalFiles;
pub use leftovers::LAUNCH_MARK;
pub use machine::LocalMachine;
pub use paths::Paths;
pub use surroundings::Surroundings;
