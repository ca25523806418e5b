//! Reports of a vendor about the tokens that a conversation has used.

use std::path::{Path, PathBuf};

use super::{Place, Transcripts};
use crate::error::Result;
use crate::model::{UsagePosition, UsageReading, VendorSessionId};
use crate::ports::Files;

/// Where a vendor reports the tokens that a conversation has used.
pub trait UsageReports: Transcripts {
    /// Returns the sources of a conversation: its transcript, and the transcripts of its subagents.
    fn usage_sources(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Vec<PathBuf> {
        vec![self.transcript(files, place, id)]
    }

    /// Reads the reports of a source from a position on. If the source was rewritten since, or if
    /// there is no position, reads the source from its beginning. A missing source has no reports.
    fn read_usage(
        &self,
        files: &dyn Files,
        source: &Path,
        from: Option<UsagePosition>,
    ) -> Result<UsageReading>;
}
