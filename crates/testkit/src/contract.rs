//! Suites that every implementation of a port has to pass.

pub mod store;
