//! Removes folders. After a crash at any time, a folder is either complete or gone.

use std::fs;
use std::io;
use std::path::Path;

use uuid::Uuid;

use crate::atomic::sync_folder;

/// The prefix of the name that a removed folder has until all of it is deleted.
const REMOVED: &str = ".removed-";

/// Removes a folder. Does nothing if it does not exist. Also deletes what earlier removals in the
/// same parent folder have left because they were interrupted.
pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    let parent = folder.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let hidden = parent.join(format!("{REMOVED}{}", Uuid::new_v4().simple()));
    match fs::rename(folder, hidden) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        renamed => renamed.and_then(|()| sync_folder(parent))?,
    }
    delete_hidden(parent)
}

fn delete_hidden(parent: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(REMOVED) {
            unless_absent(fs::remove_dir_all(entry.path()))?;
        }
    }
    Ok(())
}

/// Converts the error that a file does not exist into success.
pub(crate) fn unless_absent(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
