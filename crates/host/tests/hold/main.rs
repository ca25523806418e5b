//! Holders as processes: real terminals, real children, real ends.
#![expect(clippy::unwrap_used, reason = "tests")]

mod attach;
mod ends;
mod ground;
mod lives;
mod output;
mod person;
mod protocol;
mod scroll;
mod starts;
mod suspended;
mod typing;
mod unreachable;
