//! The link between a session and the vendor's conversation, and the evidence for it.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{LaunchId, SessionId, VendorSessionId};
use crate::word_enum::word_enum;

/// One entry of the ledger that maps a session to a vendor's session id. Entries are added, never
/// changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    pub session: SessionId,
    pub launch: Option<LaunchId>,
    pub vendor_session: VendorSessionId,
    pub evidence: Evidence,
    pub at: Timestamp,
}

word_enum! {
    /// How Segue learned a vendor's session id.
    pub enum Evidence {
        /// Segue chose the id and passed it to the vendor. No evidence has confirmed it yet.
        Preset = "preset",
        /// The vendor's output stream contained the id.
        Stream = "stream",
        /// A hook that the vendor called reported the id.
        Hook = "hook",
        /// The vendor's own list of live processes contains the id together with the launch's
        /// process.
        Registry = "registry",
        /// The launch's process holds the vendor's lock on this conversation.
        Lock = "lock",
        /// The launch's process was given the id and has written to the transcript of that id.
        Transcript = "transcript",
        /// Segue created the conversation through the vendor's own import.
        Import = "import",
        /// Segue found the conversation under the strict conditions of `rules::recovery`.
        Discovered = "discovered",
        /// The user assigned the conversation to the session.
        Adopted = "adopted",
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
