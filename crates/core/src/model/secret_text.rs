//! Text that is never shown.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A token or a password. It is kept in memory only as long as it is needed, and is in no file, log,
/// event or error. `Debug` output has nothing of it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SecretText(String);

impl SecretText {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the secret itself, to pass it on.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_has_nothing_of_the_secret() {
        let shown = format!("{:?} {:#?}", SecretText::new("hush"), Some(SecretText::new("hush")));
        assert!(!shown.contains("hush"), "{shown}");
    }
}
