//! A note about an outcome, with its hints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Error;

/// A note about an outcome, for the user. Its parts are separated by `; `. Some of them are hints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeNote {
    /// All parts in one line, including the hints.
    #[serde(rename = "note")]
    pub text: Option<String>,
    /// The parts that are hints: sentences with a command that the user can paste.
    #[serde(default)]
    pub hints: Vec<String>,
}

impl OutcomeNote {
    /// Creates a note without hints.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), hints: Vec::new() }
    }

    /// Creates a note about an error, with its causes and hints.
    pub fn of_error(error: &Error) -> Self {
        Self { text: Some(error.in_one_line()), hints: error.hints.clone() }
    }

    /// Appends a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        self.and(Self { text: Some(hint.clone()), hints: vec![hint] })
    }

    /// Appends another note.
    #[must_use]
    pub fn and(self, mut other: Self) -> Self {
        let texts: Vec<String> = self.text.into_iter().chain(other.text).collect();
        let mut hints = self.hints;
        hints.append(&mut other.hints);
        Self { text: (!texts.is_empty()).then(|| texts.join(SEPARATOR)), hints }
    }

    /// Returns the text without the hints.
    pub fn reason(&self) -> String {
        let text = self.text.clone().unwrap_or_default();
        self.hints.iter().fold(text, |text, hint| {
            // A hint is a whole part of the text, and follows another part.
            text.replacen(&format!("{SEPARATOR}{hint}"), "", 1)
        })
    }
}

impl From<Option<String>> for OutcomeNote {
    /// Creates a note without hints.
    fn from(text: Option<String>) -> Self {
        Self { text, hints: Vec::new() }
    }
}

const SEPARATOR: &str = "; ";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hints_are_part_of_the_text_and_not_of_the_reason() {
        let error = Error::conflict("it is open").caused_by("process 7").hint("run `a`").hint("b");
        let note = OutcomeNote::of_error(&error);
        assert_eq!(note.text.as_deref(), Some("it is open: process 7; run `a`; b"));
        assert_eq!(note.hints, ["run `a`", "b"]);
        assert_eq!(note.reason(), "it is open: process 7");
    }

    #[test]
    fn notes_are_joined_in_order_and_keep_their_hints() {
        let question = OutcomeNote::new("asks: `ls; pwd`").hint("run `segue answer a yes`");
        let note = question.and(OutcomeNote::default()).and(OutcomeNote::new("was restored"));
        let text = "asks: `ls; pwd`; run `segue answer a yes`; was restored";
        assert_eq!(note.text.as_deref(), Some(text));
        assert_eq!(note.hints, ["run `segue answer a yes`"]);
        assert_eq!(note.reason(), "asks: `ls; pwd`; was restored");
        assert_eq!(OutcomeNote::default().and(OutcomeNote::default()), OutcomeNote::default());
    }

    #[test]
    fn text_that_looks_like_a_hint_is_part_of_the_reason() {
        let note = OutcomeNote::new("its command is `a; run `segue b``").hint("run `segue c`");
        assert_eq!(note.reason(), "its command is `a; run `segue b``");
    }

    #[test]
    fn answer_of_an_earlier_version_has_no_hints() {
        let note: OutcomeNote = serde_json::from_value(json!({ "note": "one; two" })).unwrap();
        assert_eq!(note, OutcomeNote::new("one; two"));
        let written = serde_json::to_value(OutcomeNote::default()).unwrap();
        assert_eq!(written, json!({ "note": null, "hints": [] }));
    }
}
