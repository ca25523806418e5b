//! Tokens of programs and browsers that use the API over a network.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AccessToken, TokenId};

/// A token as it is stored: without its secret text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredToken {
    pub token: AccessToken,
    pub digest: TokenDigest,
    pub created_at: Timestamp,
    /// `None` if the token never expires. A browser that is not used is logged out earlier.
    pub expires_at: Option<Timestamp>,
    /// The time of the last request with this token, with a precision of a minute. `None` before the
    /// first one.
    pub last_used_at: Option<Timestamp>,
    /// The link with which a browser has logged in. The browser's token is removed with it. `None`
    /// if the browser logged in with a link that was valid once.
    pub made_from: Option<TokenId>,
}

/// The SHA-256 digest of a token's secret text, in hexadecimal digits. The secret has 256 random
/// bits, so a digest without salt cannot be reversed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenDigest(String);

impl TokenDigest {
    pub fn new(hexadecimal: String) -> Self {
        Self(hexadecimal)
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Shows nothing of the digest: output of `Debug` ends up in logs.
impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenDigest")
    }
}
