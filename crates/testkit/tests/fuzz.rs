//! Runs every fuzz target with damaged transcripts: with all inputs that failed before, and with
//! new cases for at most a minute. `make fuzz` runs for longer.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

use std::process::Command;

/// The number of cases of each target. They take well under a minute.
const CASES: &str = "250";

/// A fixed seed makes the cases the same in every run, so that the test does not fail by chance.
const SEED: &str = "1";

fn fuzz(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_fuzz")).args(arguments).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn inputs_that_failed_before_pass() {
    fuzz(&["regressions"]);
}

#[test]
fn damaged_transcripts_pass_the_checks_of_every_target() {
    fuzz(&["--seed", SEED, "--cases", CASES, "--seconds", "60"]);
}
