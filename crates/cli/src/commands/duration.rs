//! Durations in command-line arguments.

use jiff::{SignedDuration, Span, SpanRelativeTo};

/// Parses a duration such as `30s`, `5m`, `1h30m`, `500ms` or `7d`. A day has 24 hours. A negative
/// duration is an error.
pub(crate) fn parse(text: &str) -> Result<SignedDuration, String> {
    let invalid = || format!("`{text}` is not a duration such as 30s, 5m or 1h");
    let span: Span = text.parse().map_err(|_| invalid())?;
    let days = SpanRelativeTo::days_are_24_hours();
    let length = span.to_duration(days).map_err(|_| invalid())?;
    if length.is_negative() { Err(invalid()) } else { Ok(length) }
}

pub(crate) fn milliseconds(length: SignedDuration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_with_units_are_parsed_and_other_texts_are_errors() {
        let table =
            [("30s", 30_000), ("500ms", 500), ("1h30m", 5_400_000), ("7d", 604_800_000), ("0s", 0)];
        for (text, wanted) in table {
            assert_eq!(milliseconds(parse(text).unwrap()), wanted, "{text}");
        }
        for bad in ["", "30", "soon", "-5s", "3 fortnights", "1y"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
