//! Turns that fail: why is told.

use crate::trial::Trial;

pub(super) fn classes(trial: &mut Trial) {
    for (name, message, told) in [
        ("refused-account", "one [[status: 401]]", "the account was refused"),
        ("refused-request", "two [[status: 400]]", "the request was refused"),
        ("failing-service", "three [[status: 500]]", "the service failed"),
    ] {
        assert_fails(trial, name, message, told);
    }
    trial.model.refuse();
    assert_fails(trial, "no-connection", "four", "the service cannot be reached");
    trial.model.accept();
}

pub(super) fn limit(trial: &mut Trial) {
    assert_fails(trial, "limit", "one [[limit: 2030-01-01T10:00:00Z]]", "usage limit");
    assert_fails(trial, "status", "two [[status: 429]]", "usage limit");
}

fn assert_fails(trial: &Trial, name: &str, message: &str, told: &str) {
    let turn = trial.headless(name, message);
    assert_eq!(turn.status, 6, "{message}: {turn:#?}");
    assert!(turn.stderr.contains(told), "{message}: not told as `{told}`: {turn:#?}");
}
