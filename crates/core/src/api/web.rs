//! The web page: `segue web`, logins of browsers, and links to one session.

use std::collections::BTreeSet;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{SecretText, SessionId, TokenId, TokenScope};

/// The header in which the page sends its key with each request.
pub const PAGE_KEY_HEADER: &str = "segue-page-key";

/// The beginning of the subprotocol with which the page sends its key when it opens a WebSocket: a
/// page cannot add headers there.
pub const PAGE_KEY_PROTOCOL: &str = "segue.page-key.";

/// The subprotocol of terminals. A page offers it, because a server must choose one of those that
/// are offered, and must not repeat the key.
pub const TERMINAL_PROTOCOL: &str = "segue.terminal";

/// `POST /v1/web/links`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebLinkRequest {
    /// What a browser may do that logs in with the link.
    #[serde(default = "everything")]
    pub scopes: BTreeSet<TokenScope>,
}

fn everything() -> BTreeSet<TokenScope> {
    BTreeSet::from([TokenScope::Admin])
}

/// A link with which one browser can log in, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebLinkReport {
    /// The path of the link. Its code is in the fragment, which browsers send to no server.
    pub url_path: SecretText,
    pub expires_at: Timestamp,
}

/// `POST /v1/web/login`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebLoginRequest {
    /// The fragment of a link.
    pub code: SecretText,
}

/// The half of a login that the page stores. The other half is the cookie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebLoginReport {
    /// The text that the page sends in the header `segue-page-key` with each request. It is in no
    /// other answer.
    pub page_key: SecretText,
}

/// `GET /v1/web/session`: the login of a browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebSessionView {
    pub scopes: BTreeSet<TokenScope>,
    /// When the browser is logged out if it sends no further request.
    pub expires_at: Option<Timestamp>,
    /// The only session that the browser may see. `None` if it may see all of them.
    pub session: Option<SessionId>,
}

/// `POST /v1/shares`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareCreateRequest {
    /// The id or the name of the session.
    pub session: String,
    /// At most 2,592,000: 30 days.
    pub expires_in_seconds: u32,
}

/// A new link to a session. Its code is in no other answer, and is stored nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareCreateReport {
    #[serde(flatten)]
    pub view: ShareView,
    /// The path of the link. Its code is in the fragment, which browsers send to no server.
    pub url_path: SecretText,
}

/// `GET /v1/shares`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareList {
    pub shares: Vec<ShareView>,
}

/// A link to a session, without its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareView {
    pub id: TokenId,
    /// The name by which `segue token revoke` revokes the link.
    pub name: String,
    pub session: Option<SessionId>,
    /// `fleet/name` of the session. `None` if the session does not exist any more.
    pub address: Option<String>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// When a browser logged in with the link last.
    pub last_used_at: Option<Timestamp>,
}
