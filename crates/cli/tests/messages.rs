//! A message to an agent arrives exactly once, whichever process dies, and never in a wrong place.
//!
//! The transcripts are the evidence. `SEGUE_SOAK=1` runs longer forms of these tests.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails shall stop at once")]
#![expect(clippy::print_stdout, reason = "a test prints how to repeat it")]

#[path = "messages/dialogs.rs"]
mod dialogs;
#[path = "messages/drafts.rs"]
mod drafts;
#[path = "messages/first_questions.rs"]
mod first_questions;
#[path = "messages/headless.rs"]
mod headless;
#[path = "messages/queue.rs"]
mod queue;
#[path = "messages/scene.rs"]
mod scene;
#[path = "messages/scope.rs"]
mod scope;
#[path = "messages/storm.rs"]
mod storm;
#[path = "messages/texts.rs"]
mod texts;
#[path = "messages/uncertain.rs"]
mod uncertain;
#[path = "messages/waiters.rs"]
mod waiters;

use std::path::Path;

/// The program under test.
fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_segue"))
}

/// Returns whether `SEGUE_SOAK` asks for the long form of the tests.
fn is_soak() -> bool {
    std::env::var_os("SEGUE_SOAK").is_some_and(|value| value == "1")
}
