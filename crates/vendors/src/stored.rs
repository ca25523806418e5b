//! Listing transcripts by name and time.

use std::io;
use std::path::{Path, PathBuf};

use segue_core::model::VendorSessionId;
use segue_core::ports::{Files, Kept};

/// Returns the transcripts among these paths, by the id that their names have.
pub(crate) fn kept(
    files: &dyn Files,
    paths: impl IntoIterator<Item = PathBuf>,
    id_of: impl Fn(&Path) -> Option<VendorSessionId>,
) -> Vec<Kept> {
    let one = |path: PathBuf| {
        let id = id_of(&path)?;
        let modified = files.facts(&path).ok()??.modified;
        Some(Kept { id, transcript: path, modified })
    };
    paths.into_iter().filter_map(one).collect()
}

/// Returns what is in the folders that are in a folder.
pub(crate) fn in_folders_of(files: &dyn Files, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let folders = files.list(folder)?;
    // A file among them is no folder, and one that cannot be entered has nothing for us.
    Ok(folders.iter().flat_map(|inner| files.list(inner).unwrap_or_default()).collect())
}
