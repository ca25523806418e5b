//! Tests of the demo agent's program from outside: over pipes and at a terminal.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::panic, reason = "a deadline that passes fails the test")]

mod headless;
mod interactive;
mod terminal;
mod trial;
