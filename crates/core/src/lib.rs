//! The product without a machine: words (`model`), decisions (`rules`), seams (`ports`), verbs
//! (`flows`) and what the daemon and its clients say to each other (`api`).
//!
//! Nothing here reads the environment, the clock or a file, and nothing here starts a process.

pub mod api;
pub mod error;
pub mod failpoint;
pub mod flows;
pub mod model;
pub mod ports;
pub mod rules;

pub use error::{Error, Kind, Result};
