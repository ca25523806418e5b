//! Reads a transcript that is one JSON document, and must be held in memory as a whole.

use std::path::Path;

use segue_core::ports::Files;
use segue_core::{Error, Result};

use super::unreadable;

/// Maximum size of a document.
pub(crate) const LARGEST_DOCUMENT_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a document. A missing file is an empty document. Fails if the document is larger than
/// `LARGEST_DOCUMENT_BYTES`.
pub(crate) fn read_document(files: &dyn Files, path: &Path) -> Result<Vec<u8>> {
    let failed = |error| unreadable(path, error);
    let Some(facts) = files.facts(path).map_err(failed)? else { return Ok(Vec::new()) };
    let length = facts.length;
    if length > LARGEST_DOCUMENT_BYTES {
        return Err(Error::vendor(format!("cannot read the transcript `{}`", path.display()))
            .caused_by(format!(
                "one JSON document may have at most {LARGEST_DOCUMENT_BYTES} bytes, and this one \
                 has {length}"
            ))
            .hint("let the agent write one record per line, if it can"));
    }
    files.head(path, usize::try_from(length).unwrap_or(usize::MAX)).map_err(failed)
}
