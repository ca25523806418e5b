//! Errors about failed turns, with hints.

use segue_core::Error;
use segue_core::model::Failure;

/// Makes the error about a turn that failed.
pub(crate) fn turn(name: &str, failure: &Failure) -> Error {
    let error = Error::vendor(format!("the turn of `{name}` failed: {}", failure.class));
    let error = match failure.message.trim() {
        "" => error,
        message => error.caused_by(message),
    };
    let error = match failure.resets_at {
        Some(at) => error.caused_by(format!("the limit ends at {at:.0}")),
        None => error,
    };
    error.hint(failure.class.advice()).hint(format!("run `segue log {name}` to see what happened"))
}
