//! Measures durations.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Calls a function. Returns its duration and its result.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let done = work();
    (begin.elapsed(), done)
}

/// Returns the median of the durations. Zero if there are none.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Runs a command. Returns the time from its start to its exit. Panics if the command fails.
pub(crate) fn whole_run(command: &mut Command) -> Duration {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (time, status) = timed(|| command.status().expect("the command starts"));
    assert!(status.success(), "{command:?}: {status}");
    time
}
