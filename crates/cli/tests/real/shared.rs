//! Tests that are the same for several vendors.
//!
//! A test is a generic function. `test_each!` declares one test for each vendor whose program can do
//! it, as `shared::MODULE::TEST::VENDOR`. The differences between vendors are in `facts.rs`.

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
    (opencode) => {
        segue_testkit::vendors::OpencodeHome
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

mod acp;
mod deleted_transcripts;
mod dispatch;
mod editor_servers;
mod facts;
mod failpoints;
mod failures;
mod interrupted_turns;
mod mcp;
mod messages_during_kills;
mod other_filesystem;
mod other_processes;
mod permissions;
mod pushes;
mod repetition;
mod resume;
mod siblings;
mod silence;
mod usage;
