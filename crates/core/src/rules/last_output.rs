//! The last output of an agent. It explains a failed start if the vendor reports no reason.

use super::display;
use crate::model::{Exit, LaunchEnd};

/// At most this many lines are kept.
const MAX_LINES: usize = 5;
/// At most this many characters of a line are kept.
const MAX_LINE_CHARS: usize = 300;
/// Signals that other processes send to end one: SIGHUP, SIGINT, SIGKILL, SIGTERM.
const SIGNALS_FROM_OTHERS: [i32; 4] = [1, 2, 9, 15];

/// Returns whether the last output of a launch may explain its end. If another process ended the
/// agent in the middle of its work, the output shows only that work.
pub fn may_explain(end: LaunchEnd, has_shown_conversation: bool) -> bool {
    match end.exit {
        _ if end.is_requested => false,
        Exit::Unknown | Exit::NeverStarted => false,
        Exit::Code(0) => !has_shown_conversation,
        Exit::Signal(signal) if SIGNALS_FROM_OTHERS.contains(&signal) => !has_shown_conversation,
        Exit::Code(_) | Exit::Signal(_) => true,
    }
}

/// Returns the last lines of an output that contain letters or digits, joined to one line and without
/// control characters. `None` if there is no such line. The caller must remove secrets first, because
/// a secret in a line that was cut may not be recognizable any more.
pub fn excerpt(output: &str) -> Option<String> {
    let output = display::plain(output);
    let lines = output.lines().map(str::trim).filter(|line| line.contains(char::is_alphanumeric));
    let lines: Vec<String> = lines.map(cut).collect();
    let last = lines.split_at(lines.len().saturating_sub(MAX_LINES)).1;
    (!last.is_empty()).then(|| last.join(" / "))
}

/// Formats an excerpt as the cause of an error.
pub fn cause(excerpt: &str) -> String {
    format!("its last output: {excerpt}")
}

fn cut(line: &str) -> String {
    let line = line.replace('\t', " ");
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn last_output_explains_only_unintended_ends() {
        // Each row: exit, requested by the user, explained without a conversation, explained with
        // one.
        let table = [
            (Exit::Code(1), false, true, true),
            (Exit::Code(0), false, true, false),
            (Exit::Signal(6), false, true, true),
            (Exit::Signal(9), false, true, false),
            (Exit::Signal(15), false, true, false),
            (Exit::Code(1), true, false, false),
            (Exit::Unknown, false, false, false),
            (Exit::NeverStarted, false, false, false),
        ];
        for (exit, is_requested, without, with) in table {
            let end = LaunchEnd { exit, is_requested, at: Timestamp::UNIX_EPOCH };
            let explains = (may_explain(end, false), may_explain(end, true));
            assert_eq!(explains, (without, with), "{end:?}");
        }
    }

    #[test]
    fn excerpt_contains_the_last_lines_with_letters_or_digits() {
        let long = "x".repeat(MAX_LINE_CHARS + 1);
        let cut = format!("{}…", "x".repeat(MAX_LINE_CHARS));
        let table = [
            ("", None),
            (" \n──────\n \u{1b}[2J", None),
            ("error: unknown option\r\n", Some("error: unknown option")),
            ("\u{1b}[31mred\u{1b}[0m\n\n  two\tparts \n╰───╯\n", Some("red / two parts")),
            ("1\n2\n3\n4\n5\n6\n7", Some("3 / 4 / 5 / 6 / 7")),
            (long.as_str(), Some(cut.as_str())),
        ];
        for (output, expected) in table {
            assert_eq!(excerpt(output).as_deref(), expected, "{output:?}");
        }
    }
}
