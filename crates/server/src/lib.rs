//! The daemon (life cycle, supervisor, routes), and the client that sends it requests.

mod blocking;
pub mod client;
pub mod completion;
mod connection;
pub mod conversation;
mod credentials;
mod daemon;
mod event_feed;
mod line;
mod liveness;
mod metrics;
mod network;
pub mod plan_file;
mod project;
mod requests;
pub mod resident;
mod routes;
mod sources;
mod supervisor;
pub mod vendors;
pub mod wiring;

pub use routes::{openapi_document, route_rows};
