//! Words that a newer daemon may send although this version does not know them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer as _, Visitor, value};
use serde::{Deserialize, Serialize};

/// A value of an answer that is a word in JSON. A word that this version does not know is kept as
/// text, so that the rest of the answer can be read and the word can be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum MaybeKnown<T> {
    Known(T),
    Unknown(String),
}

// Not derived: for an untagged enum, serde copies the word before it tries the variants. Lists have
// one for each row.
impl<'de, T: DeserializeOwned> Deserialize<'de> for MaybeKnown<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(WordVisitor(PhantomData))
    }
}

struct WordVisitor<T>(PhantomData<T>);

impl<T: DeserializeOwned> Visitor<'_> for WordVisitor<T> {
    type Value = MaybeKnown<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word")
    }

    fn visit_str<E>(self, word: &str) -> Result<Self::Value, E> {
        let known: Result<T, value::Error> = T::deserialize(word.into_deserializer());
        Ok(known.map_or_else(|_| MaybeKnown::Unknown(word.to_owned()), MaybeKnown::Known))
    }
}

/// The words that this version knows are in `x-extensible-enum`: a newer daemon may send others.
impl<T: JsonSchema> JsonSchema for MaybeKnown<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        if let Some(words) = schema.remove("enum") {
            schema.insert("x-extensible-enum".to_owned(), words);
        }
        schema
    }
}

impl<T: Copy> MaybeKnown<T> {
    /// Returns the value. `None` if this version does not know the word.
    pub fn known(&self) -> Option<T> {
        match self {
            Self::Known(value) => Some(*value),
            Self::Unknown(_) => None,
        }
    }
}

impl<T: AsRef<str>> MaybeKnown<T> {
    /// Returns the word, known or not.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(value) => value.as_ref(),
            Self::Unknown(word) => word,
        }
    }
}

impl<T> From<T> for MaybeKnown<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

impl<T: AsRef<str>> fmt::Display for MaybeKnown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StatusKind;

    fn read(json: &str) -> serde_json::Result<MaybeKnown<StatusKind>> {
        serde_json::from_str(json)
    }

    #[test]
    fn word_is_read_and_written_unchanged_whether_it_is_known_or_not() {
        let table = [("idle", Some(StatusKind::Idle)), ("Idle", None), ("dreaming", None)];
        for (word, expected) in table {
            let json = format!("\"{word}\"");
            let value = read(&json).unwrap();
            assert_eq!(value.known(), expected, "{word}");
            assert_eq!((value.as_str(), value.to_string().as_str()), (word, word));
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
        }
    }

    #[test]
    fn json_that_is_not_a_string_is_an_error() {
        assert!(read("7").is_err() && read("null").is_err() && read("{}").is_err());
    }
}
