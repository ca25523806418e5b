//! Converting conversations into a vendor's own format.

use std::fmt::Debug;

use crate::error::Result;
use crate::ports::{Transcription, TranscriptionOrder};

/// How a vendor takes over conversations of other vendors.
pub trait Conversion: Debug + Send + Sync {
    /// Returns how to convert a conversation into this vendor's format.
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription>;

    /// Returns how many characters of a conversation are certain to fit into the context of the
    /// vendor's default model, in addition to its instructions. The vendor would drop parts of a
    /// longer conversation.
    fn context_characters(&self) -> usize {
        200_000
    }
}
