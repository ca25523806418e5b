//! Questions about files that a vendor has. Most callers treat an unreadable file like a missing
//! one.

use std::path::{Path, PathBuf};

use segue_core::ports::Files;
use segue_core::{Error, Result};

/// Returns whether a path exists. Returns `false` if its metadata cannot be read.
pub(crate) fn exists(files: &dyn Files, path: &Path) -> bool {
    matches!(files.facts(path), Ok(Some(_)))
}

/// Returns the length of a file in bytes. Returns 0 if the file is missing or its metadata cannot
/// be read.
pub(crate) fn length(files: &dyn Files, path: &Path) -> u64 {
    files.facts(path).ok().flatten().map_or(0, |facts| facts.length)
}

/// Lists the paths in a folder. `contents` describes the contents of the folder in the error
/// message.
pub(crate) fn list(files: &dyn Files, folder: &Path, contents: &str) -> Result<Vec<PathBuf>> {
    files.list(folder).map_err(|error| {
        Error::vendor(format!("cannot list the {contents} in `{}`", folder.display()))
            .caused_by(error)
    })
}
