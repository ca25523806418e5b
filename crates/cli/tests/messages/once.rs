//! A request that changes something is carried out exactly once, even if its connection breaks or
//! the daemon dies.

mod broken_connections;
mod daemon_kills;
mod proxy;
mod raw_requests;
mod request_ids;
