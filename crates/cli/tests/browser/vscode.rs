//! The extension for VS Code, in the real editor: code-server, which `scripts/code-server` installs.

use std::path::PathBuf;

use segue_testkit::isolated;

use crate::{run_in, world};

/// Returns the folder in which the editor is installed.
pub(crate) fn place() -> PathBuf {
    std::env::var_os("SEGUE_TEST_CODE_SERVER").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/code-server")),
        PathBuf::from,
    )
}

/// Runs a scenario in a network of its own, in which the port of the editor is free.
fn run(scenario: &str) {
    assert!(place().join("stamp").is_file(), "run `make code-server` first");
    isolated(|| run_in(&world(), scenario));
}

#[test]
fn vscode_lists_sessions_answers_types_sends_and_opens_addresses() {
    run("vscode.mjs");
}

#[test]
fn vscode_opens_the_same_sessions_after_a_reload_and_a_crash_of_the_editor() {
    run("vscode-restart.mjs");
}

#[test]
fn vscode_reports_a_missing_program_and_an_ended_daemon_and_shows_hostile_texts_as_text() {
    run("vscode-failures.mjs");
}
