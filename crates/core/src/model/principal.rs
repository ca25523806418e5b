//! Who makes a request.

use std::collections::BTreeSet;

use super::{Session, TokenId};
use crate::word_enum::word_enum;

/// Who makes a request. It is determined once for each connection, and every decision about
/// permissions depends on it alone (`rules::scope`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Principal {
    /// The user who owns this daemon.
    User,
    /// A process that descends from a launch of this session.
    Agent(Box<Session>),
    /// A program with a token.
    Token(AccessToken),
}

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessToken {
    pub id: TokenId,
    /// The name that the user gave to the token.
    pub name: String,
    pub scopes: BTreeSet<TokenScope>,
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
