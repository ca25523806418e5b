//! Redaction of texts in which every few bytes look as if a secret followed. Each hint is decided
//! by a limited number of bytes, so that the time is linear in the length of the text.

use std::path::Path;
use std::time::Duration;

use segue_core::rules::redaction::redact_assignments;

use crate::table::{Aim, Figure, Row};
use crate::timing::{median, timed};

const TIMES: usize = 3;
/// Both lengths are above the limits, which are at most 16 KB. Below them, the time is quadratic.
const SHORT: usize = 32 * 1024;
const GROWTH: usize = 4;

/// Hints that are decided by many bytes.
const HINTS: [&str; 10] = [
    "token=",
    "sk-",
    "key",
    "://a:",
    "jdbc:oracle:",
    "token=\\\"",
    "Bearer ",
    "curl -u ",
    "cookie:",
    "\tTRUE\t",
];

/// Measures the hint whose time grows most.
pub(crate) fn measure(_program: &Path) -> Vec<Row> {
    let growths = HINTS.map(|hint| (hint, time(hint, SHORT), time(hint, SHORT * GROWTH)));
    let growth = |(_, short, long): &(&str, Duration, Duration)| {
        long.as_secs_f64() / short.as_secs_f64().max(f64::MIN_POSITIVE)
    };
    let worst = growths.iter().max_by(|a, b| growth(a).total_cmp(&growth(b)));
    let row = worst.map(|(hint, short, long)| {
        let measure = format!("redacting 128 KB of `{}`, against 32 KB", hint.escape_debug());
        let row = Row::new(measure, Figure::Time(*long)).against(Figure::Time(*short));
        // Linear is 4x, quadratic is 16x.
        row.aim(Aim::Within(8.0))
    });
    row.into_iter().collect()
}

fn time(hint: &str, length: usize) -> Duration {
    let text = hint.repeat(length / hint.len());
    median((0..TIMES).map(|_| timed(|| redact_assignments(&text).len()).0).collect())
}
