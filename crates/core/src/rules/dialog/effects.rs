//! What the choices of a question do, for programs that show them in different ways.

use crate::word_enum::word_enum;

/// The first words of a choice that refuses.
const REFUSING: [&str; 10] =
    ["no", "deny", "reject", "cancel", "quit", "exit", "decline", "skip", "stop", "don't"];

/// The words of a choice that also answers later questions.
const LASTING: [&str; 5] = ["always", "don't ask", "not ask again", "session", "never"];

word_enum! {
    /// What a choice does, as far as its text shows it.
    pub enum ChoiceEffect {
        AllowOnce = "allow_once",
        AllowAlways = "allow_always",
        RejectOnce = "reject_once",
        RejectAlways = "reject_always",
    }
}

impl ChoiceEffect {
    /// Decides from the text of a choice.
    pub fn of(choice: &str) -> Self {
        let text = choice.to_lowercase().replace('’', "'");
        let first = text.split(|it: char| !it.is_alphanumeric() && it != '\'').next();
        let refuses = first.is_some_and(|first| REFUSING.contains(&first) || first == "never");
        let lasts = LASTING.iter().any(|words| text.contains(words));
        match (refuses, lasts) {
            (false, false) => Self::AllowOnce,
            (false, true) => Self::AllowAlways,
            (true, false) => Self::RejectOnce,
            (true, true) => Self::RejectAlways,
        }
    }

    pub fn is_rejection(self) -> bool {
        matches!(self, Self::RejectOnce | Self::RejectAlways)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effect_follows_from_the_text_of_a_choice() {
        use ChoiceEffect::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
        let table = [
            ("Yes", AllowOnce),
            ("Yes, proceed (y)", AllowOnce),
            ("Allow once", AllowOnce),
            ("Yes, allow all edits during this session (shift+tab)", AllowAlways),
            ("Yes, and don’t ask again for `ls` commands in /code", AllowAlways),
            ("Allow always", AllowAlways),
            ("No, and tell the agent what to do differently (esc)", RejectOnce),
            ("No, exit", RejectOnce),
            ("Reject", RejectOnce),
            ("Don't trust", RejectOnce),
            ("Never allow", RejectAlways),
            ("Notes", AllowOnce),
            ("", AllowOnce),
        ];
        for (choice, effect) in table {
            assert_eq!(ChoiceEffect::of(choice), effect, "{choice}");
        }
    }
}
