//! Reports with the expected and the seen behaviour, for a person who uses the vendor.

use std::fmt::Display;

/// Panics if an expectation is not met. The panic message is a report with the expected and the
/// seen behaviour.
#[track_caller]
pub fn expect(is_met: bool, expected: impl Display, seen: impl FnOnce() -> String) {
    if !is_met {
        unmet(expected, &seen());
    }
}

/// Panics with a report of the expected and the seen behaviour.
#[track_caller]
pub fn unmet(expected: impl Display, seen: &str) -> ! {
    panic!("{}", report(expected, seen))
}

/// Returns whether a panic message is such a report. Any other panic is a bug of the check.
pub fn is_report(panic_message: &str) -> bool {
    panic_message.starts_with(EXPECTED)
}

const EXPECTED: &str = "expected: ";

fn report(expected: impl Display, seen: &str) -> String {
    let mut lines = seen.trim_matches('\n').lines();
    let first = lines.next().unwrap_or("nothing");
    let rest: String = lines.map(|line| format!("\n          {line}")).collect();
    format!("{EXPECTED}{expected}\nseen:     {first}{rest}")
}

/// Returns the texts in quotation marks, separated by commas.
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
    fn report_contains_the_expected_and_the_seen_behaviour() {
        let text = report("it asks", "it did not\nand said why\n");
        assert_eq!(text, "expected: it asks\nseen:     it did not\n          and said why");
        assert!(is_report(&text) && !is_report("assertion failed"));
    }

    #[test]
    fn quoted_joins_texts_and_writes_nothing_for_an_empty_list() {
        assert_eq!(quoted(&[" a ", "b"]), "\"a\", \"b\"");
        assert_eq!(quoted(&[]), "nothing");
    }
}
