//! The core of Segue, without any I/O: data types (`model`), decisions as pure functions (`rules`),
//! interfaces to the outside world (`ports`), use cases (`flows`), and the messages that the daemon
//! and its clients exchange (`api`).
//!
//! Code in this crate does not read the environment, the clock or files, and does not start
//! processes.

pub mod api;
pub mod error;
pub mod failpoint;
pub mod flows;
pub mod model;
pub mod ports;
pub mod rules;
mod word_enum;

pub use error::{Error, Kind, Result};
