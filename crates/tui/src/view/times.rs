//! Timestamps as people read them: the time of day in narrow places, a duration in wide ones.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::geometry::Areas;
use crate::model::UiModel;

/// A list with at least this many columns shows durations.
const MIN_RELATIVE_COLUMNS: u16 = 60;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Returns since when a session has its status.
pub(super) fn since(at: Timestamp, model: &UiModel) -> String {
    if is_relative(model) {
        relative(at, model.now)
    } else {
        absolute(at, model.now, &model.surroundings.zone)
    }
}

/// Returns whether the screen shows durations in minutes, which change by themselves.
pub(crate) fn shows_minutes(model: &UiModel) -> bool {
    let recent = |at: Timestamp| model.now.duration_since(at).as_secs() < HOUR;
    is_relative(model) && model.list.sessions.iter().any(|it| recent(it.updated_at))
}

fn is_relative(model: &UiModel) -> bool {
    Areas::of(model).list.width >= MIN_RELATIVE_COLUMNS
}

fn relative(at: Timestamp, now: Timestamp) -> String {
    // A clock that was set back must not show a negative duration.
    let seconds = now.duration_since(at).as_secs().max(0);
    match seconds {
        ..MINUTE => "now".to_owned(),
        MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        HOUR..DAY => format!("{} h", seconds / HOUR),
        _ => format!("{} d", seconds / DAY),
    }
}

/// Returns the time of a day, or the day if it is an earlier one.
pub(super) fn absolute(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    if at.date() == now.date() {
        return at.strftime("%H:%M").to_string();
    }
    match now.date().yesterday() {
        Ok(yesterday) if yesterday == at.date() => "yest.".to_owned(),
        _ if at.year() == now.year() => at.strftime("%b %d").to_string(),
        _ => at.strftime("%Y").to_string(),
    }
}

/// Returns the time with seconds.
pub(super) fn exact(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_of_the_day_or_durations() {
        let now: Timestamp = "2026-03-05T12:41:30Z".parse().unwrap();
        let table = [
            ("2026-03-05T12:41:10Z", "12:41", "now"),
            ("2026-03-05T12:39:10Z", "12:39", "2 min"),
            ("2026-03-05T08:00:00Z", "08:00", "4 h"),
            ("2026-03-04T23:00:00Z", "yest.", "13 h"),
            ("2026-02-01T23:00:00Z", "Feb 01", "31 d"),
            ("2025-02-01T23:00:00Z", "2025", "396 d"),
            ("2026-03-05T12:59:00Z", "12:59", "now"),
        ];
        for (at, time, duration) in table {
            let at = at.parse().unwrap();
            assert_eq!(absolute(at, now, &TimeZone::UTC), time);
            assert_eq!(relative(at, now), duration);
        }
    }
}
