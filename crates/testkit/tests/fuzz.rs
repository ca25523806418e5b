//! Every reader is tried with damaged transcripts: with all that has ever failed, and with as many
//! new ones as a minute allows. `make fuzz` takes its time.
#![expect(clippy::unwrap_used, reason = "a failure is a failed test")]

use std::process::Command;

/// So many of each target take well under a minute.
const CASES: &str = "250";

/// Not to be unlucky on another day: the cases are always the same.
const SEED: &str = "1";

fn fuzz(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_fuzz")).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_has_failed_once_does_not_fail_again() {
    fuzz(&["regressions"]);
}

#[test]
fn a_minute_of_damaged_transcripts_breaks_no_promise() {
    fuzz(&["--seed", SEED, "--cases", CASES, "--seconds", "60"]);
}
