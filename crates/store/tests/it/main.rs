//! Tests of the SQLite store through its public interface.

#![expect(clippy::unwrap_used, reason = "tests")]

mod children;
mod contract;
mod files_gone;
mod fixture;
mod full_disk;
mod guarantees;
mod killed;
mod migration;
mod opening;
mod read_only;
mod seed;
mod size;
