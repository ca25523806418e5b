//! Turns that fail: Segue reports the reason.

use crate::expectation::expect;
use crate::trial::VendorTrial;

/// The exit status of a command whose vendor failed.
const VENDOR_FAILED: i32 = 6;

pub(super) fn failures(trial: &mut VendorTrial) {
    for (name, message, reason) in [
        ("refused-account", "one [[status: 401]]", "the account was refused"),
        ("refused-request", "two [[status: 400]]", "the request was refused"),
        ("failing-service", "three [[status: 500]]", "the service failed"),
    ] {
        expect_failure(trial, name, message, reason);
    }
    trial.model.refuse();
    expect_failure(trial, "no-connection", "four", "the service cannot be reached");
    trial.model.accept();
}

pub(super) fn usage_limit(trial: &mut VendorTrial) {
    expect_failure(trial, "limit", "one [[limit: 2030-01-01T10:00:00Z]]", "usage limit");
    expect_failure(trial, "status", "two [[status: 429]]", "usage limit");
}

fn expect_failure(trial: &VendorTrial, name: &str, message: &str, reason: &str) {
    let turn = trial.headless(name, message);
    expect(
        turn.status == VENDOR_FAILED && turn.stderr.contains(reason),
        format!("a headless turn that the model answers with {message} fails: \"{reason}\""),
        || turn.to_string(),
    );
}
