//! The content of a message: a text, or a list of parts.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, SeqAccess, Visitor};

/// The content of a message. Vendors write it as a string or as a list of parts.
#[derive(Clone, Debug)]
pub(crate) enum MessageContent<Part> {
    Text(String),
    Parts(Vec<Part>),
}

impl<Part> Default for MessageContent<Part> {
    fn default() -> Self {
        Self::Parts(Vec::new())
    }
}

impl<Part> MessageContent<Part> {
    /// Returns the text, or the texts of the parts with `separator` between them. `text_of` returns
    /// the text of a part, or `None` if the part is no text.
    pub(crate) fn join<'a>(
        &'a self,
        separator: &str,
        text_of: impl Fn(&'a Part) -> Option<&'a str>,
    ) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => {
                parts.iter().filter_map(text_of).collect::<Vec<_>>().join(separator)
            }
        }
    }
}

impl<'de, Part: Deserialize<'de>> Deserialize<'de> for MessageContent<Part> {
    /// Accepts a string or a list without buffering the value first.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrParts(PhantomData))
    }
}

struct TextOrParts<Part>(PhantomData<Part>);

impl<'de, Part: Deserialize<'de>> Visitor<'de> for TextOrParts<Part> {
    type Value = MessageContent<Part>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text or parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(MessageContent::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(MessageContent::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Self::Value, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(parts)).map(MessageContent::Parts)
    }
}
