//! What depends on the version of Claude Code.

use std::time::Duration;

use segue_core::rules::versions;

/// The permission mode in which it asks before it acts, by the first version that was tried with
/// it. Newer versions call it `manual`; their own default is another mode, which does not ask.
const ASKING_MODE: [(&str, &str); 2] = [("0", "default"), ("2.1.325", "manual")];

/// For how long a question ignores keys after it was drawn, by the first version that was tried with
/// it. The program waits for up to 600 ms.
const QUESTION_IGNORES_KEYS: [(&str, Duration); 2] =
    [("0", Duration::ZERO), ("2.1.325", Duration::from_millis(900))];

/// Returns for how long a question of this version ignores keys after it was drawn. A key that comes
/// too early is lost, so a version that is not known gets the longest.
pub(super) fn question_ignores_keys_for(version: Option<&str>) -> Duration {
    let longest = || QUESTION_IGNORES_KEYS.iter().map(|(_, duration)| *duration).max();
    let known = version.and_then(|version| versions::since(&QUESTION_IGNORES_KEYS, Some(version)));
    known.or_else(longest).unwrap_or_default()
}

/// Returns the permission mode in which this version asks before it acts.
pub(super) fn asking_mode(version: Option<&str>) -> &'static str {
    versions::since(&ASKING_MODE, version).unwrap_or("default")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_that_asks_has_the_name_of_its_version() {
        let table = [
            (None, "default"),
            (Some("2.1.197"), "default"),
            (Some("2.1.325"), "manual"),
            (Some("3.0.0"), "manual"),
        ];
        for (version, mode) in table {
            assert_eq!(asking_mode(version), mode, "{version:?}");
        }
    }

    #[test]
    fn a_version_that_is_not_known_is_given_the_time_of_the_slowest() {
        let table = [(None, 900), (Some("2.1.197"), 0), (Some("2.1.325"), 900)];
        for (version, milliseconds) in table {
            let expected = Duration::from_millis(milliseconds);
            assert_eq!(question_ignores_keys_for(version), expected, "{version:?}");
        }
    }
}
