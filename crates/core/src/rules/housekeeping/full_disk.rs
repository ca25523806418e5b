//! Recognizes a full disk.

use crate::error::{Error, Kind};

/// What the system, git and the store report if nothing more can be written.
const REPORTS: [&str; 3] = ["No space left on device", "Disk quota exceeded", "the disk is full"];

/// Returns whether an operation failed because the disk is full, or because a quota is used up.
pub fn is_disk_full(error: &Error) -> bool {
    let texts = std::iter::once(&error.message).chain(&error.causes);
    let is_reported = |text: &String| REPORTS.iter().any(|report| text.contains(report));
    error.kind == Kind::Unavailable && texts.into_iter().any(is_reported)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_is_recognized_by_the_words_of_the_system_git_and_the_store() {
        let cannot = || Error::unavailable("cannot write `/x`");
        let table = [
            (cannot().caused_by("No space left on device (os error 28)"), true),
            (cannot().caused_by("Disk quota exceeded (os error 122)"), true),
            (Error::unavailable("the disk is full"), true),
            (cannot().caused_by("fatal: write error: No space left on device"), true),
            (cannot().caused_by("Permission denied (os error 13)"), false),
            // The text of an agent or of a verification command.
            (Error::vendor("it printed: No space left on device"), false),
        ];
        for (error, expected) in table {
            assert_eq!(is_disk_full(&error), expected, "{error}");
        }
    }
}
