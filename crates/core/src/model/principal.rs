//! Who makes a request.

use std::collections::BTreeSet;

use super::{Session, SessionId, TokenId};
use crate::word_enum::word_enum;

/// Who makes a request. It is determined once for each connection, and every decision about
/// permissions depends on it alone (`rules::scope`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Principal {
    /// The user who owns this daemon.
    User,
    /// A process that descends from a launch of this session.
    Agent(Box<Session>),
    /// A program with a token, or a browser that has logged in.
    Token(AccessToken),
}

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessToken {
    pub id: TokenId,
    /// The name by which the user revokes the token.
    pub name: String,
    pub kind: AccessTokenKind,
    pub scopes: BTreeSet<TokenScope>,
    /// The only session that the token reaches. `None` if it reaches all of them.
    pub only_session: Option<SessionId>,
}

word_enum! {
    /// Who has a token.
    pub enum AccessTokenKind {
        /// A program, which sends the token with each request.
        Program = "program",
        /// A browser, which has the token as a cookie.
        Browser = "browser",
        /// The people who got a link to one session. Their browsers log in with it.
        Share = "share",
    }
}

word_enum! {
    /// A group of actions that a token allows.
    #[derive(PartialOrd, Ord)]
    pub enum TokenScope {
        /// Lists sessions, and reads conversations and events.
        Read = "read",
        /// Sends messages and answers questions.
        Send = "send",
        /// Starts, resumes and stops agents that the user has configured.
        Work = "work",
        /// Does everything that the user may do.
        Admin = "admin",
    }
}
