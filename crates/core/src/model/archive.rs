//! Conversations in the archive.

use jiff::Timestamp;

use super::{VendorId, VendorSessionId};

/// Identifies a conversation in the archive, by the vendor's own id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Archived {
    pub vendor: VendorId,
    pub id: VendorSessionId,
}

/// A conversation that has a copy in the archive, and the size of that copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedConversation {
    pub conversation: Archived,
    pub bytes: u64,
    /// When the copy last grew.
    pub copied_at: Timestamp,
}
