//! Differences between the versions of Claude Code.

use std::time::Duration;

use segue_core::rules::versions;

/// The permission mode in which Claude Code asks before it acts, by the first version that was
/// tried with it. Newer versions call the mode `manual`. Their own default is a mode that does not
/// ask.
const ASKING_MODE: [(&str, &str); 2] = [("0", "default"), ("2.1.325", "manual")];

/// How long a question ignores keys after it was drawn, by the first version that was tried with
/// it. The program itself ignores keys for up to 600 ms.
const QUESTION_IGNORES_KEYS: [(&str, Duration); 2] =
    [("0", Duration::ZERO), ("2.1.325", Duration::from_millis(900))];

/// Whether a headless launch runs the hook that asks for a permission, by the first version that was
/// tried with it. Version 2.1.197 refuses the tool and runs no hook.
const ASKS_HEADLESS: [(&str, bool); 2] = [("0", false), ("2.1.326", true)];

/// Returns whether this version can ask a person while it runs headless. An unknown version is
/// probably new. If it is old, it refuses what it cannot ask for.
pub(super) fn asks_headless(version: Option<&str>) -> bool {
    version.is_none() || versions::since(&ASKS_HEADLESS, version).unwrap_or_default()
}

/// Returns how long a question of this version ignores keys after it was drawn. A key that is typed
/// too early is lost, so an unknown version gets the longest time.
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
    fn asking_mode_depends_on_the_version() {
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
    fn old_version_cannot_ask_headless() {
        let table = [
            (None, true),
            (Some("2.1.197"), false),
            (Some("2.1.326"), true),
            (Some("3.0.0"), true),
        ];
        for (version, expected) in table {
            assert_eq!(asks_headless(version), expected, "{version:?}");
        }
    }

    #[test]
    fn unknown_version_ignores_keys_for_the_longest_time() {
        let table = [(None, 900), (Some("2.1.197"), 0), (Some("2.1.325"), 900)];
        for (version, milliseconds) in table {
            let expected = Duration::from_millis(milliseconds);
            assert_eq!(question_ignores_keys_for(version), expected, "{version:?}");
        }
    }
}
