//! Comparing the versions of programs.

use std::cmp::Ordering;

/// A version such as `2.1.325`. What follows the numbers (`-beta.2`, `+build`) is not compared.
#[derive(Clone, Debug)]
pub struct Version(Vec<u64>);

impl Version {
    /// Parses the numbers at the beginning of a text. `None` if it does not begin with one.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('v');
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let numbers = text[..end].trim_end_matches('.').split('.').map(str::parse);
        let numbers: Vec<u64> = numbers.collect::<Result<_, _>>().ok()?;
        (!numbers.is_empty()).then_some(Self(numbers))
    }
}

impl Ord for Version {
    /// Compares number by number. A missing number is zero.
    fn cmp(&self, other: &Self) -> Ordering {
        let count = self.0.len().max(other.0.len());
        let number = |version: &Self, at: usize| version.0.get(at).copied().unwrap_or(0);
        (0..count)
            .map(|at| number(self, at).cmp(&number(other, at)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

/// Returns whether an installed version is newer than every tested version. `false` if the
/// installed version cannot be parsed, or if no version was tested.
pub fn is_newer_than_tried(installed: Option<&str>, tried: &[&str]) -> bool {
    let newest = tried.iter().filter_map(|version| Version::parse(version)).max();
    match (installed.and_then(Version::parse), newest) {
        (Some(installed), Some(newest)) => installed > newest,
        _ => false,
    }
}

/// Returns the value of the newest entry that is not newer than `version`. `table` begins with the
/// oldest version. A version that is unknown or older than all entries gets the first value.
pub fn since<T: Copy>(table: &[(&str, T)], version: Option<&str>) -> Option<T> {
    let version = version.and_then(Version::parse);
    let reached = |from: &str| match (&version, Version::parse(from)) {
        (Some(version), Some(from)) => *version >= from,
        _ => false,
    };
    let newest = table.iter().rev().find(|(from, _)| reached(from));
    newest.or_else(|| table.first()).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let table = [
            ("2.1.325", "2.1.197", Ordering::Greater),
            ("2.1.9", "2.1.10", Ordering::Less),
            ("2026.9.6", "2026.10.1", Ordering::Less),
            ("v1.2", "1.2.0", Ordering::Equal),
            ("1.2.3-beta.9", "1.2.3+abc", Ordering::Equal),
        ];
        for (left, right, expected) in table {
            let (left, right) = (Version::parse(left).unwrap(), Version::parse(right).unwrap());
            assert_eq!(left.cmp(&right), expected, "{left:?} {right:?}");
        }
        for text in ["", "latest", "-1", "v", "99999999999999999999999.1", "1..2"] {
            assert!(Version::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn only_a_version_above_all_tried_ones_is_newer() {
        let tried = &["2.1.197", "2.1.325"][..];
        let table = [
            (Some("2.1.326"), tried, true),
            (Some("2.1.325"), tried, false),
            (Some("2.1.200"), tried, false),
            (Some("unreadable"), tried, false),
            (None, tried, false),
            (Some("1.0"), &[][..], false),
        ];
        for (installed, tried, expected) in table {
            assert_eq!(is_newer_than_tried(installed, tried), expected, "{installed:?} {tried:?}");
        }
    }

    #[test]
    fn a_version_gets_the_value_of_the_newest_entry_that_it_has_reached() {
        let table = [("1.0", "old"), ("2.1.10", "new")];
        let expected = [
            (Some("2.1.9"), "old"),
            (Some("2.1.10"), "new"),
            (Some("3"), "new"),
            (Some("0.5"), "old"),
            (None, "old"),
        ];
        for (version, value) in expected {
            assert_eq!(since(&table, version), Some(value), "{version:?}");
        }
    }
}
