//! Decides when a crashed agent is restarted, and when to give up.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::model::{Exit, Launch};

/// A launch that fails within this time counts as an immediate crash.
const FAST: Duration = Duration::from_secs(15);
/// After this many immediate crashes in a row, the agent is not restarted.
const FAST_LIMIT: usize = 3;
/// If [`WINDOW_LIMIT`] launches failed within this time, the agent is not restarted, however long
/// each launch ran.
const WINDOW: Duration = Duration::from_secs(600);
/// Number of failures within [`WINDOW`] after which the agent is not restarted.
const WINDOW_LIMIT: usize = 6;
/// After this many ends within [`WINDOW`] that Segue did not observe, the login shell is not used.
const KILLED_LIMIT: usize = 3;
const FIRST_DELAY: Duration = Duration::from_millis(500);
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// What to do after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    RestartAfter(Duration),
    GiveUp,
}

/// The recent failures of a session's launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// Number of immediate crashes, counted back from the newest launch.
    pub fast_in_a_row: usize,
    pub in_window: usize,
    /// Number of launches in the window that were killed together with their holders.
    pub killed_in_window: usize,
}

impl Failures {
    /// Counts the failures of a session's closed launches. `launches` must begin with the oldest.
    pub fn count(launches: &[Launch], now: Timestamp) -> Self {
        let fast_in_a_row = launches.iter().rev().take_while(|launch| died_at_once(launch)).count();
        let in_window = launches.iter().filter(|launch| failed_within(launch, now)).count();
        let killed_in_window = launches.iter().filter(|it| killed_within(it, now)).count();
        Self { fast_in_a_row, in_window, killed_in_window }
    }

    /// Returns whether agent and holder were killed together so often that a restart would not help,
    /// for example because the memory of the machine is full.
    pub fn is_killed_often(self) -> bool {
        self.killed_in_window >= KILLED_LIMIT
    }

    /// Decides what to do after the failure that was counted last.
    pub fn next(self) -> Next {
        if self.fast_in_a_row >= FAST_LIMIT || self.in_window >= WINDOW_LIMIT {
            return Next::GiveUp;
        }
        let doublings = u32::try_from(self.in_window.saturating_sub(1)).unwrap_or(u32::MAX);
        let delay = FIRST_DELAY.saturating_mul(2_u32.saturating_pow(doublings));
        Next::RestartAfter(delay.min(LONGEST_DELAY))
    }
}

impl fmt::Display for Failures {
    /// Writes why the agent is not restarted automatically.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fast_in_a_row, in_window, killed_in_window: _ } = *self;
        if fast_in_a_row >= FAST_LIMIT {
            write!(f, "gave up after {fast_in_a_row} failures in a row")
        } else if in_window >= WINDOW_LIMIT {
            write!(f, "gave up after {in_window} failures in {} minutes", WINDOW.as_secs() / 60)
        } else {
            f.write_str("gave up: it could not be brought back")
        }
    }
}

/// Returns when the launch failed. `None` if the agent itself did not fail. If the machine went
/// down, the exit is unknown, which is no failure of the agent.
fn failed_at(launch: &Launch) -> Option<Timestamp> {
    let end = launch.end?;
    let is_own_failure = matches!(end.exit, Exit::Code(code) if code != 0)
        || matches!(end.exit, Exit::Signal(_) | Exit::NeverStarted);
    (is_own_failure && !end.is_requested).then_some(end.at)
}

fn died_at_once(launch: &Launch) -> bool {
    // If the end is before the start, the clock was set back, and the running time is unknown.
    failed_at(launch)
        .is_some_and(|at| at >= launch.created_at && time_between(launch.created_at, at) < FAST)
}

fn failed_within(launch: &Launch, now: Timestamp) -> bool {
    failed_at(launch).is_some_and(|at| time_between(at, now) < WINDOW)
}

/// Returns whether Segue did not observe the end of the launch, and recorded it within the window.
fn killed_within(launch: &Launch, now: Timestamp) -> bool {
    let unobserved = launch.end.filter(|end| end.exit == Exit::Unknown && !end.is_requested);
    unobserved.is_some_and(|end| time_between(end.at, now) < WINDOW)
}

fn time_between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::lifecycle::samples;

    const T0: i64 = 1_800_000_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(T0 + seconds).unwrap()
    }

    fn launch(from: i64, to: i64, exit: Exit) -> Launch {
        let mut launch = samples::launch(1);
        launch.created_at = at(from);
        launch.end = Some(crate::model::LaunchEnd { exit, is_requested: false, at: at(to) });
        launch
    }

    #[test]
    fn agent_is_not_restarted_after_three_immediate_crashes() {
        let crash = |from| launch(from, from + 2, Exit::Signal(11));
        let two = [crash(0), crash(10)];
        assert!(matches!(Failures::count(&two, at(20)).next(), Next::RestartAfter(_)));
        let three = [crash(0), crash(10), crash(20)];
        let failures = Failures::count(&three, at(30));
        assert_eq!(failures.next(), Next::GiveUp);
        assert_eq!(failures.to_string(), "gave up after 3 failures in a row");
    }

    #[test]
    fn launch_that_ran_long_enough_resets_the_count_of_immediate_crashes() {
        let crash = |from, to| launch(from, to, Exit::Code(1));
        let launches = [crash(0, 1), crash(5, 6), crash(10, 60), crash(70, 71)];
        assert_eq!(Failures::count(&launches, at(80)).fast_in_a_row, 1);
        let set_back = [crash(0, -3600), crash(-3590, -3500)];
        assert_eq!(Failures::count(&set_back, at(-3500)).fast_in_a_row, 0);
    }

    #[test]
    fn unknown_exit_does_not_count_as_a_failure() {
        let gone = launch(0, 1, Exit::Unknown);
        let launches = [gone.clone(), gone.clone(), gone];
        let failures = Failures::count(&launches, at(2));
        assert_eq!(failures, Failures { killed_in_window: 3, ..Failures::default() });
        assert!(matches!(failures.next(), Next::RestartAfter(_)));
    }

    #[test]
    fn agent_that_was_killed_three_times_in_the_window_is_killed_often() {
        let gone = |from| launch(from, from + 1, Exit::Unknown);
        assert!(!Failures::count(&[gone(0), gone(10)], at(20)).is_killed_often());
        assert!(Failures::count(&[gone(0), gone(10), gone(20)], at(30)).is_killed_often());
        assert!(!Failures::count(&[gone(0), gone(10), gone(20)], at(5000)).is_killed_often());
    }

    #[test]
    fn requested_stop_does_not_count_as_a_failure() {
        let mut stopped = launch(0, 1, Exit::Signal(15));
        stopped.end.as_mut().unwrap().is_requested = true;
        assert_eq!(Failures::count(&[stopped], at(2)), Failures::default());
    }

    #[test]
    fn restart_delay_doubles_until_six_failures_in_the_window_end_the_restarts() {
        let slow = |n: i64| launch(n * 20, n * 20 + 16, Exit::Code(1));
        let mut delays = Vec::new();
        for count in 1..=5 {
            let launches: Vec<_> = (0..count).map(slow).collect();
            let Next::RestartAfter(delay) = Failures::count(&launches, at(count * 20)).next()
            else {
                panic!("gave up after {count}");
            };
            delays.push(delay.as_millis());
        }
        assert_eq!(delays, [500, 1000, 2000, 4000, 8000]);
        let six: Vec<_> = (0..6).map(slow).collect();
        let failures = Failures::count(&six, at(120));
        assert_eq!(failures.next(), Next::GiveUp);
        assert_eq!(failures.to_string(), "gave up after 6 failures in 10 minutes");
        assert_eq!(Failures::count(&six, at(5000)).in_window, 0);
    }
}
