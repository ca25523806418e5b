//! Tables of what the flows do, on ports in memory.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod adopt;
mod archive;
mod doctor;
mod environment;
mod fleet;
mod launch;
mod look;
mod messages;
mod observe;
mod restore;
mod run;
mod scene;
