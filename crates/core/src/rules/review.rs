//! Comments on the lines of a diff become one message to the agent.

use std::fmt::Write as _;

/// A comment on one line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineComment {
    pub path: String,
    /// The number of the line in the new file, or in the old file if the line was removed.
    pub line: Option<u64>,
    /// The line as the diff shows it, with its first character.
    pub code: String,
    pub text: String,
}

/// Returns the message for the agent. `None` if there is no comment.
pub fn message(comments: &[LineComment]) -> Option<String> {
    if comments.is_empty() {
        return None;
    }
    let mut text = String::from("Review of your changes. Please address each comment:\n");
    for LineComment { path, line, code, text: comment } in comments {
        let place = line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"));
        // Writing to a string cannot fail.
        let _written = write!(text, "\n{place}\n    {}\n{}\n", code.trim_end(), comment.trim());
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_one_message_with_place_code_and_text() {
        let comment = |line, code: &str, text: &str| LineComment {
            path: "src/a.rs".to_owned(),
            line,
            code: code.to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(message(&[]), None);
        let all = [comment(Some(7), "+let x = 1;", "use y\n"), comment(None, "-old", "why?")];
        let expected = "\
Review of your changes. Please address each comment:

src/a.rs:7
    +let x = 1;
use y

src/a.rs
    -old
why?
";
        assert_eq!(message(&all).as_deref(), Some(expected));
    }
}
