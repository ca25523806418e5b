//! Test suites that every implementation of a port must pass.

pub mod store;
