//! Tests the demo agent's program over pipes and at a terminal.

#![expect(clippy::unwrap_used, reason = "a test fails if it cannot continue")]
#![expect(clippy::panic, reason = "a deadline that passes fails the test")]

mod headless;
mod interactive;
mod terminal;
mod trial;
