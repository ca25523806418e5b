//! `segue serve` and `segue token`: requests over a network.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    AccessTokenKind, ListenSettings, SecretText, SessionId, StoredToken, TokenId, TokenScope,
    Transport,
};
use crate::rules::tokens;
use crate::word_enum::word_enum;

/// `POST /v1/serve`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServeRequest {
    /// Listen there from now on.
    On(ListenSettings),
    Off,
    /// Change nothing, and report.
    Report,
}

word_enum! {
    /// Whether the daemon accepts requests over a network.
    pub enum ListenerState {
        /// It is switched off.
        Off = "off",
        Listening = "listening",
        /// It is switched on, but the daemon cannot listen there.
        Failed = "failed",
    }
}

/// Where the daemon listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServeReport {
    pub state: ListenerState,
    pub address: Option<SocketAddr>,
    pub transport: Option<Transport>,
    pub hosts: Vec<String>,
    /// The URL of the web page, without a path.
    #[serde(default)]
    pub url: Option<String>,
    /// Why the daemon cannot listen.
    pub error: Option<String>,
}

/// `POST /v1/tokens`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenCreateRequest {
    pub name: String,
    pub scopes: BTreeSet<TokenScope>,
    /// `None` if the token never expires.
    pub expires_at: Option<Timestamp>,
}

/// A new token, with its text. The text is in no other answer, and is stored nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenCreateReport {
    #[serde(flatten)]
    pub view: TokenView,
    pub token: SecretText,
}

/// `GET /v1/tokens`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenList {
    pub tokens: Vec<TokenView>,
}

/// `POST /v1/tokens/revoke`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenRevokeRequest {
    /// The name of the token.
    pub name: String,
}

/// A token without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenView {
    pub id: TokenId,
    pub name: String,
    pub kind: AccessTokenKind,
    pub scopes: BTreeSet<TokenScope>,
    /// The only session that the token reaches. `None` if it reaches all of them.
    pub session: Option<SessionId>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
}

impl From<&StoredToken> for TokenView {
    fn from(stored: &StoredToken) -> Self {
        Self {
            id: stored.token.id,
            name: stored.token.name.clone(),
            kind: stored.token.kind,
            scopes: stored.token.scopes.clone(),
            session: stored.token.only_session,
            created_at: stored.created_at,
            expires_at: tokens::end(stored),
            last_used_at: stored.last_used_at,
        }
    }
}
