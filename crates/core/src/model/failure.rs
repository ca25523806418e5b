//! Why a turn failed.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What the vendor said about a turn that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub class: FailureClass,
    /// The vendor's own words.
    pub message: String,
    /// When a usage limit ends, where the vendor says so.
    pub resets_at: Option<Timestamp>,
}

/// The kinds of failure that ask for different cures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The service would not take the request.
    Request,
    /// The service does not know who asks, or does not allow it.
    Account,
    /// The account has used what it may use for now.
    UsageLimit,
    /// The service failed, or has too much to do.
    Service,
    /// The service could not be reached.
    Connection,
    /// The answer broke off.
    Stream,
    /// Nothing was heard for longer than anything should take.
    Silence,
    /// The vendor's own settings do not allow it.
    Settings,
    Other,
}

impl FailureClass {
    /// Returns the word used in the store and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Account => "account",
            Self::UsageLimit => "usage_limit",
            Self::Service => "service",
            Self::Connection => "connection",
            Self::Stream => "stream",
            Self::Silence => "silence",
            Self::Settings => "settings",
            Self::Other => "other",
        }
    }

    /// Returns what a person can do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Request => "change the message or the model: the same request fails again",
            Self::Account => "sign in with the vendor's own command, or check its key",
            Self::UsageLimit => "wait until the limit ends, or go on with another vendor",
            Self::Service => "try again in a while",
            Self::Connection => "check the network and the vendor's address",
            Self::Stream => "send the message again: the answer was not finished",
            Self::Silence => "look at its output; the turn was ended",
            Self::Settings => "mend the vendor's settings",
            Self::Other => "look at its output",
        }
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Request => "the request was refused",
            Self::Account => "the account was refused",
            Self::UsageLimit => "usage limit",
            Self::Service => "the service failed",
            Self::Connection => "the service cannot be reached",
            Self::Stream => "the answer broke off",
            Self::Silence => "nothing was heard for too long",
            Self::Settings => "the vendor's settings do not allow it",
            Self::Other => "the vendor gave no known reason",
        })
    }
}
