//! Which vendor conversation a session is, and how that is known.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{LaunchId, SessionId, VendorSessionId};

/// One line of the ledger session ↔ vendor's id. Lines are added, never changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    pub session: SessionId,
    pub launch: Option<LaunchId>,
    pub vendor_session: VendorSessionId,
    pub evidence: Evidence,
    pub at: Timestamp,
}

/// How a vendor's id came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// We chose it and told the vendor; nothing has confirmed it yet.
    Preset,
    /// The vendor's output stream named it.
    Stream,
    /// A hook that the vendor called named it.
    Hook,
    /// The vendor's own list of live processes names it with our process.
    Registry,
    /// Our process holds the vendor's lock of it.
    Lock,
    /// Our process, which was told it, has written to its transcript.
    Transcript,
    /// We wrote it through the vendor's own import.
    Import,
    /// Found by us under the strict rule of `rules::recovery`.
    Discovered,
    /// A person said so.
    Adopted,
}

impl Evidence {
    /// Returns the word used in tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Preset => "preset",
            Self::Stream => "stream",
            Self::Hook => "hook",
            Self::Registry => "registry",
            Self::Lock => "lock",
            Self::Transcript => "transcript",
            Self::Import => "import",
            Self::Discovered => "discovered",
            Self::Adopted => "adopted",
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
