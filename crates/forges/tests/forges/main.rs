//! Tests of all forges: recorded and built deliveries, signatures, hostile input, and the API client
//! against a forge on the loopback address.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a panic fails the test")]

mod api;
mod api_failures;
mod built;
mod examples;
mod hostile;
mod recorded;
mod signatures;
mod support;
