//! Enums whose values are words: in JSON, in the store, on the command line and in tables.

use schemars::Schema;
use serde_json::{Value, json};

/// Declares an enum without data, and a word for each value. The enum gets `word`, `from_word`, `ALL`
/// and `AsRef<str>`, and is serialized as its word. A word after `|` was written by earlier versions:
/// it can be deserialized, and is never written.
macro_rules! word_enum {
    (
        $(#[$enum_attribute:meta])*
        pub enum $name:ident {
            $(
                $(#[$attribute:meta])*
                $variant:ident = $word:literal $(| $earlier:literal)*
            ),+ $(,)?
        }
    ) => {
        $(#[$enum_attribute])*
        #[derive(
            Clone,
            Copy,
            Debug,
            PartialEq,
            Eq,
            Hash,
            ::serde::Serialize,
            ::serde::Deserialize,
            ::schemars::JsonSchema,
        )]
        #[schemars(transform = $crate::word_enum::join_words)]
        pub enum $name {
            $(
                $(#[$attribute])*
                #[serde(rename = $word $(, alias = $earlier)*)]
                $variant,
            )+
        }

        impl $name {
            /// All values, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the word that stands for the value.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }

            /// Returns the value of a word. `None` if no value has this word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.word()
            }
        }
    };
}

pub(crate) use word_enum;

/// Makes one list of words of the schema of an enum, which has a part for each word with a
/// description. The descriptions become a part of the description of the enum.
pub(crate) fn join_words(schema: &mut Schema) {
    let Some(Value::Array(parts)) = schema.remove("oneOf") else { return };
    let mut words = Vec::new();
    let mut lines = Vec::new();
    for part in &parts {
        let several = part.get("enum").and_then(Value::as_array).into_iter().flatten();
        words.extend(part.get("const").into_iter().chain(several).cloned());
        if let (Some(word), Some(text)) = (part["const"].as_str(), part["description"].as_str()) {
            lines.push(format!("- `{word}`: {text}"));
        }
    }
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("{description}\n\n{}", lines.join("\n"));
    schema.insert("type".to_owned(), json!("string"));
    schema.insert("enum".to_owned(), Value::Array(words));
    schema.insert("description".to_owned(), json!(description.trim()));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Debug;

    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use crate::api::{DryRun, Outcome, PlannedDecision, Severity, StopOutcome, Until, WaitTarget};
    use crate::error::Kind;
    use crate::model::{
        CiConclusion, DeliveryRefusal, DiffSide, EventKind, Evidence, FailureClass, HandoffForm,
        LaunchMode, MessageStateKind, Permission, PullState, RepositoryPermission, Restart,
        ReviewVerdict, Role, StatusKind, TriggerKind, UserKind, WaitingFor,
    };
    use crate::rules::bringing_back::LeftAloneReason;
    use crate::rules::handoff::HandoffMode;

    fn assert_words<T>(all: &[T], from_word: fn(&str) -> Option<T>)
    where
        T: AsRef<str> + Copy + Debug + PartialEq + Serialize + DeserializeOwned,
    {
        let words: BTreeSet<&str> = all.iter().map(AsRef::as_ref).collect();
        assert_eq!(words.len(), all.len(), "{words:?}");
        for value in all {
            let word = value.as_ref();
            let json = serde_json::to_string(value).unwrap();
            assert_eq!(json, format!("\"{word}\""));
            assert_eq!(serde_json::from_str::<T>(&json).unwrap(), *value);
            assert_eq!(from_word(word), Some(*value));
        }
        assert_eq!(from_word("no such word"), None);
        assert!(serde_json::from_str::<T>("\"no such word\"").is_err());
    }

    #[test]
    fn every_word_is_read_back_as_the_value_that_it_stands_for() {
        assert_words(CiConclusion::ALL, CiConclusion::from_word);
        assert_words(DeliveryRefusal::ALL, DeliveryRefusal::from_word);
        assert_words(DiffSide::ALL, DiffSide::from_word);
        assert_words(DryRun::ALL, DryRun::from_word);
        assert_words(EventKind::ALL, EventKind::from_word);
        assert_words(Evidence::ALL, Evidence::from_word);
        assert_words(FailureClass::ALL, FailureClass::from_word);
        assert_words(HandoffForm::ALL, HandoffForm::from_word);
        assert_words(Kind::ALL, Kind::from_word);
        assert_words(LaunchMode::ALL, LaunchMode::from_word);
        assert_words(MessageStateKind::ALL, MessageStateKind::from_word);
        assert_words(HandoffMode::ALL, HandoffMode::from_word);
        assert_words(Outcome::ALL, Outcome::from_word);
        assert_words(Permission::ALL, Permission::from_word);
        assert_words(PlannedDecision::ALL, PlannedDecision::from_word);
        assert_words(LeftAloneReason::ALL, LeftAloneReason::from_word);
        assert_words(PullState::ALL, PullState::from_word);
        assert_words(RepositoryPermission::ALL, RepositoryPermission::from_word);
        assert_words(Restart::ALL, Restart::from_word);
        assert_words(ReviewVerdict::ALL, ReviewVerdict::from_word);
        assert_words(Role::ALL, Role::from_word);
        assert_words(Severity::ALL, Severity::from_word);
        assert_words(StatusKind::ALL, StatusKind::from_word);
        assert_words(StopOutcome::ALL, StopOutcome::from_word);
        assert_words(TriggerKind::ALL, TriggerKind::from_word);
        assert_words(Until::ALL, Until::from_word);
        assert_words(UserKind::ALL, UserKind::from_word);
        assert_words(WaitTarget::ALL, WaitTarget::from_word);
        assert_words(WaitingFor::ALL, WaitingFor::from_word);
    }

    #[test]
    fn word_of_an_earlier_version_is_read_but_not_written() {
        let read: Outcome = serde_json::from_str("\"attached\"").unwrap();
        assert_eq!((read, read.word()), (Outcome::Running, "running"));
        assert_eq!(serde_json::to_string(&read).unwrap(), "\"running\"");
    }
}
