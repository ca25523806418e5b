//! Tests with vendors' real programs that are the same for several vendors. Each session must resume
//! its own conversation. The requests that the scripted model receives prove it.
//!
//! A test is a generic function. `test_each!` declares one test for each vendor that can do it, as
//! `MODULE::TEST::VENDOR`. What differs between vendors is in `facts.rs`. What only one vendor does
//! is in the file of that vendor, such as `claude.rs`.

/// Names the type that stands for a vendor.
macro_rules! home_of {
    (claude) => {
        segue_testkit::vendors::ClaudeHome
    };
    (codex) => {
        segue_testkit::vendors::CodexHome
    };
    (copilot) => {
        segue_testkit::vendors::CopilotHome
    };
    (gemini) => {
        segue_testkit::vendors::GeminiHome
    };
    (pi) => {
        segue_testkit::vendors::PiHome
    };
}

/// Declares one isolated test for each of these vendors, which calls a generic function.
macro_rules! test_each {
    ($check:ident: $($vendor:ident),+ $(,)?) => {
        mod $check {
            $(
                #[test]
                fn $vendor() {
                    segue_testkit::isolated(super::$check::<home_of!($vendor)>);
                }
            )+
        }
    };
}

mod cuts;
mod elsewhere;
mod facts;
mod failures;
mod kills;
mod lives;
mod losses;
mod others;
mod points;
mod silence;
mod swaps;

use segue_testkit::vendor_scene::{PinnedVendor, VendorScene};
use segue_testkit::{Model, World};

use crate::world;

/// Returns a world with the vendor's program, the model that it talks to, and the arguments of
/// `segue run` that let the program act without asking.
fn scene<V: PinnedVendor>() -> VendorScene<V> {
    VendorScene::new(env!("CARGO_BIN_EXE_segue"))
}

/// Returns a world with the vendor's program, and the model that it talks to.
fn with_vendor<V: PinnedVendor>() -> (World, Model) {
    let (mut world, model) = (world(), Model::start());
    drop(V::install(&mut world, &model));
    (world, model)
}
