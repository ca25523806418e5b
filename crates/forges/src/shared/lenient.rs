//! Fields whose type depends on the object that contains them.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// A field that is ignored if it has another type.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum LenientField<T> {
    Known(T),
    Other(IgnoredAny),
}

impl<T> LenientField<T> {
    /// Returns the value. `None` if it has another type.
    pub(crate) fn known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Other(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_of_another_type_is_ignored() {
        let read = |json: &str| {
            let field: Option<LenientField<String>> = serde_json::from_str(json).unwrap();
            field.and_then(LenientField::known)
        };
        assert_eq!(read("\"text\"").as_deref(), Some("text"));
        for json in ["7", "{\"name\": \"text\"}", "[\"text\"]", "null", "true"] {
            assert_eq!(read(json), None, "{json}");
        }
    }
}
