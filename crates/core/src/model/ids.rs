//! Identifiers. Segue's own ids are UUIDv7 and never change; a vendor's id is an opaque string.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{Error, Result};

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone,
            Copy,
            Debug,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            Serialize,
            Deserialize,
            JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            pub fn new(id: Uuid) -> Self {
                Self(id)
            }

            pub fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                text.parse().map(Self)
            }
        }
    };
}

uuid_id! {
    /// Identifies one conversation permanently.
    SessionId
}
uuid_id! {
    /// Identifies one process life of a session.
    LaunchId
}

uuid_id! {
    /// Identifies a machine that runs launches. It stays the same across reboots.
    MachineId
}

uuid_id! {
    /// Identifies one message to an agent.
    MessageId
}

uuid_id! {
    /// Identifies a worktree that Segue has made.
    WorktreeId
}

uuid_id! {
    /// Identifies one request of a client. A repeated request has the same id.
    RequestId
}

impl RequestId {
    /// Makes an id of a number, such as a digest of a client's own id. The version of the UUID shows
    /// that it is neither random nor a timestamp.
    pub fn of_number(number: u128) -> Self {
        Self(uuid::Builder::from_custom_bytes(number.to_be_bytes()).into_uuid())
    }
}

uuid_id! {
    /// Identifies one task.
    TaskId
}

uuid_id! {
    /// Identifies one plan.
    PlanId
}

uuid_id! {
    /// Identifies one token.
    TokenId
}

uuid_id! {
    /// Identifies one received delivery.
    DeliveryId
}

uuid_id! {
    /// Identifies one reply: a comment that Segue writes on a forge.
    ReplyId
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone,
            Debug,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            Serialize,
            Deserialize,
            JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// A vendor's own id of a conversation. Segue does not interpret it.
    VendorSessionId
}
text_id! {
    /// Identifies a kind of agent CLI.
    VendorId
}

text_id! {
    /// Identifies a kind of forge.
    ForgeId
}

text_id! {
    /// A client's own name for a task. Adding a task with a known key adds nothing.
    TaskKey
}

/// The most characters of a task's key.
const LONGEST_KEY: usize = 200;

impl TaskKey {
    /// Parses a key of 1 to 200 characters without control characters.
    pub fn parse(text: &str) -> Result<Self> {
        let length = text.chars().count();
        if (1..=LONGEST_KEY).contains(&length) && !text.chars().any(char::is_control) {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::usage("`--key` must have 1 to 200 characters and no control characters"))
    }
}

impl VendorSessionId {
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }
}

impl VendorId {
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }
}

impl ForgeId {
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $owner:literal) => {
        text_id! {
            $(#[$doc])*
            $name
        }

        impl $name {
            /// Parses a name of 1 to 64 letters, digits, `-` and `_` that begins with a letter or
            /// digit.
            pub fn parse(text: &str) -> Result<Self> {
                check_name($owner, text)?;
                Ok(Self(text.to_owned()))
            }
        }
    };
}

name! {
    /// The name of a set of agents that run together.
    FleetName, "a fleet"
}
name! {
    /// The name of an agent in the configuration.
    AgentName, "an agent"
}
name! {
    /// The name of a session, unique in its fleet.
    SessionName, "a session"
}
name! {
    /// The name of a source of deliveries in the settings.
    SourceName, "a source"
}
name! {
    /// The name of a plan, unique in its project.
    PlanName, "a plan"
}
name! {
    /// The name of a task in its plan.
    PlanTaskName, "a task"
}

const MAX_NAME_BYTES: usize = 64;
/// Length of the suggestion for a name that is too long.
const SHORTENED_NAME_CHARS: usize = 24;

fn check_name(owner: &str, text: &str) -> Result<()> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let has_valid_start = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if has_valid_start && text.len() <= MAX_NAME_BYTES && text.chars().all(is_allowed) {
        return Ok(());
    }
    let shown: String = text.chars().take(MAX_NAME_BYTES).collect();
    let ellipsis = if shown.len() < text.len() { "…" } else { "" };
    let shown = shown.escape_debug();
    Err(Error::usage(format!("`{shown}{ellipsis}` cannot be the name of {owner}"))
        .caused_by("a name has 1 to 64 letters, digits, - and _, and begins with a letter or digit")
        .hint(format!("use a name such as `{}`", suggestion(text))))
}

fn suggestion(text: &str) -> String {
    let dashed: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let words: Vec<&str> = dashed.split('-').filter(|word| !word.is_empty()).collect();
    // A name that is too long is shortened to much less than the limit. Otherwise a user may not
    // notice that the suggestion is shorter.
    let joined = words.join("-");
    let is_too_long = joined.len() > MAX_NAME_BYTES;
    let length = if is_too_long { SHORTENED_NAME_CHARS } else { MAX_NAME_BYTES };
    let joined: String = joined.chars().take(length).collect();
    if joined.is_empty() { "coder".to_owned() } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_contain_path_characters_or_look_like_flags_are_rejected() {
        for bad in
            ["", "a b", "a/b", "../x", "-v", "_x", "ä", "a\nb", "a\u{1b}[31m", &"x".repeat(65)]
        {
            assert!(SessionName::parse(bad).is_err(), "{bad:?}");
        }
        for good in ["coder", "coder-1", "A_b", "7"] {
            assert!(SessionName::parse(good).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn error_for_a_rejected_name_suggests_a_valid_name() {
        let error = SessionName::parse("my agent/1").unwrap_err();
        assert_eq!(error.hints, ["use a name such as `my-agent-1`"]);
        let error = SessionName::parse(&"x".repeat(65)).unwrap_err();
        let shown = format!("`{}…` cannot be the name of a session", "x".repeat(64));
        assert_eq!(error.message, shown);
        assert_eq!(error.hints, [format!("use a name such as `{}`", "x".repeat(24))]);
    }
}
