//! Tests of holders as processes, with real terminals, children and ends.
#![expect(clippy::unwrap_used, reason = "tests")]

mod attach;
mod ends;
mod fixture;
mod lives;
mod output;
mod person;
mod protocol;
mod scroll;
mod starts;
mod stream;
mod stream_client;
mod suspended;
mod typing;
mod unreachable;
