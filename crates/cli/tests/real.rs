//! Tests that are the same for Claude Code and Codex: messages, silent turns, conversations that
//! must not be swapped, and processes that die at any point.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails shall stop at once"
)]
#![expect(clippy::print_stdout, reason = "uncertain messages are printed")]

#[path = "real/elsewhere.rs"]
mod elsewhere;
#[path = "real/kills.rs"]
mod kills;
#[path = "real/points.rs"]
mod points;
#[path = "real/silence.rs"]
mod silence;
#[path = "real/swaps.rs"]
mod swaps;

use segue_testkit::vendors::{with_claude, with_codex};
use segue_testkit::{Model, World};

/// The vendors under test.
#[derive(Clone, Copy, Debug)]
enum Vendor {
    Claude,
    Codex,
}

impl Vendor {
    fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

/// A world with the vendor's program, and the model that it talks to.
fn with_vendor(vendor: Vendor) -> (World, Model) {
    let (mut world, model) = (World::new(env!("CARGO_BIN_EXE_segue")), Model::start());
    match vendor {
        Vendor::Claude => drop(with_claude(&mut world, &model)),
        Vendor::Codex => drop(with_codex(&mut world, &model)),
    }
    (world, model)
}
