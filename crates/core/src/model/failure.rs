//! Why a turn failed.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::word_enum::word_enum;

/// What the vendor reported about a failed turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    pub class: FailureClass,
    /// The vendor's own text.
    pub message: String,
    /// When a usage limit ends. `None` if the vendor does not report it.
    pub resets_at: Option<Timestamp>,
}

word_enum! {
    /// Categories of failures. Each needs a different remedy.
    pub enum FailureClass {
        /// The service rejected the request.
        Request = "request",
        /// The service could not authenticate the account, or denied it access.
        Account = "account",
        /// The account has reached a usage limit.
        UsageLimit = "usage_limit",
        /// The service failed or is overloaded.
        Service = "service",
        /// The service could not be reached.
        Connection = "connection",
        /// The connection ended in the middle of the answer.
        Stream = "stream",
        /// No output arrived within the longest time that a turn may be silent.
        Silence = "silence",
        /// The vendor's own settings forbid the action.
        Settings = "settings",
        Other = "other",
    }
}

impl FailureClass {
    /// Returns whether the next turn fails, too, until a person has done something about it.
    pub fn needs_person(self) -> bool {
        match self {
            Self::Request | Self::Account | Self::UsageLimit | Self::Settings => true,
            Self::Service | Self::Connection | Self::Stream | Self::Silence | Self::Other => false,
        }
    }

    /// Returns advice for the user about this kind of failure.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Request => "change the message or the model: the same request fails again",
            Self::Account => "sign in with the vendor's own command, or check its key",
            Self::UsageLimit => "wait until the limit ends, or continue with another vendor",
            Self::Service => "try again later",
            Self::Connection => "check the network and the vendor's address",
            Self::Stream => "send the message again: the answer was not finished",
            Self::Silence => "look at its output; the turn was ended",
            Self::Settings => "change the vendor's settings",
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
            Self::Stream => "the answer was cut off",
            Self::Silence => "there was no output for too long",
            Self::Settings => "the vendor's settings do not allow it",
            Self::Other => "the vendor gave no known reason",
        })
    }
}
