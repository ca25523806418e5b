//! Taking times.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Returns how long something takes, and what came of it.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let done = work();
    (begin.elapsed(), done)
}

/// Returns the middle one of many times.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Returns how long a command takes from its start to its end, and expects it to succeed.
pub(crate) fn whole_run(command: &mut Command) -> Duration {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (time, status) = timed(|| command.status().expect("the command starts"));
    assert!(status.success(), "{command:?}: {status}");
    time
}
