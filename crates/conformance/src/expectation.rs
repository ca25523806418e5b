//! What was expected and what was seen instead, in words for a person who uses the vendor.

use std::fmt::Display;

/// Ends the trial if something is not as expected, with a report of what was seen instead.
#[track_caller]
pub fn expect(is_met: bool, expected: impl Display, seen: impl FnOnce() -> String) {
    if !is_met {
        unmet(expected, &seen());
    }
}

/// Ends the trial with a report of what was expected and what was seen instead.
#[track_caller]
pub fn unmet(expected: impl Display, seen: &str) -> ! {
    panic!("{}", report(expected, seen))
}

/// Tells whether a panic's words are such a report, which needs no place in the code.
pub fn is_report(words: &str) -> bool {
    words.starts_with(EXPECTED)
}

const EXPECTED: &str = "expected: ";

fn report(expected: impl Display, seen: &str) -> String {
    let mut lines = seen.trim_matches('\n').lines();
    let first = lines.next().unwrap_or("nothing");
    let rest: String = lines.map(|line| format!("\n          {line}")).collect();
    format!("{EXPECTED}{expected}\nseen:     {first}{rest}")
}

/// Returns texts in quotation marks, one after the other.
pub(crate) fn quoted(texts: &[&str]) -> String {
    if texts.is_empty() {
        return "nothing".to_owned();
    }
    let quoted: Vec<String> = texts.iter().map(|text| format!("\"{}\"", text.trim())).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_what_was_expected_and_what_was_seen() {
        let text = report("it asks", "it did not\nand said why\n");
        assert_eq!(text, "expected: it asks\nseen:     it did not\n          and said why");
        assert!(is_report(&text) && !is_report("assertion failed"));
    }

    #[test]
    fn texts_are_quoted_and_none_is_nothing() {
        assert_eq!(quoted(&[" a ", "b"]), "\"a\", \"b\"");
        assert_eq!(quoted(&[]), "nothing");
    }
}
