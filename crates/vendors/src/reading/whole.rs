//! A file that has to be held, because it is one document.

use std::path::Path;

use segue_core::ports::Files;
use segue_core::{Error, Result};

use super::unreadable;

/// What is larger is not read.
pub(crate) const LARGEST: u64 = 64 * 1024 * 1024;

/// Reads a document; an absent one is empty.
pub(crate) fn whole(files: &dyn Files, path: &Path) -> Result<Vec<u8>> {
    let failed = |error| unreadable(path, error);
    let Some(facts) = files.facts(path).map_err(failed)? else { return Ok(Vec::new()) };
    let length = facts.length;
    if length > LARGEST {
        return Err(Error::vendor(format!("cannot read the transcript `{}`", path.display()))
            .caused_by(format!(
                "it is too large: one JSON document of {length} bytes, and {LARGEST} are the most"
            ))
            .hint("let its agent write one record a line, where it can"));
    }
    files.head(path, usize::try_from(length).unwrap_or(usize::MAX)).map_err(failed)
}
