//! The part of a command's output that an error shows.

/// At most this many lines of the output are shown.
const MAX_LINES: usize = 20;
/// At most this many bytes of the output are shown.
const MAX_BYTES: usize = 2000;

/// Returns the end of the output of a command.
pub fn end_of_output(output: &str) -> &str {
    let output = output.trim_end();
    let line_starts = output.rmatch_indices('\n').map(|(at, _)| at + 1);
    let by_lines = line_starts.take(MAX_LINES).nth(MAX_LINES - 1).unwrap_or(0);
    let by_bytes = output.ceil_char_boundary(output.len().saturating_sub(MAX_BYTES));
    &output[by_lines.max(by_bytes)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_and_bytes_of_an_output_are_shown() {
        let lines: Vec<String> = (1..=30).map(|number| format!("line {number}")).collect();
        let table = [
            (String::new(), String::new()),
            ("one\ntwo\n\n".to_owned(), "one\ntwo".to_owned()),
            (lines.join("\n"), lines[10..].join("\n")),
            (lines[..20].join("\n"), lines[..20].join("\n")),
            ("ä".repeat(1001), "ä".repeat(1000)),
            (format!("{}x", "ä".repeat(1000)), format!("{}x", "ä".repeat(999))),
        ];
        for (output, expected) in table {
            assert_eq!(end_of_output(&output), expected);
        }
    }
}
