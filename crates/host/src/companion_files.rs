//! Files that accompany a transcript. They are guarded and restored with hard links, file by file.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use crate::files::is_absence;

/// The maximum depth of subfolders. No vendor nests its files deeper.
const MAX_DEPTH: usize = 6;

/// Hard-links every regular file below `from` to the same relative path below `to`. Skips names
/// that exist already and files on another filesystem.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    link_below(from, to, MAX_DEPTH)
}

fn link_below(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    let entries = match fs::read_dir(from) {
        Err(error) if is_absence(&error) => return Ok(()),
        entries => entries?,
    };
    let mut is_folder_made = false;
    for entry in entries {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() && depth > 0 {
            link_below(&entry.path(), &target, depth - 1)?;
        } else if kind.is_file() {
            if !is_folder_made {
                DirBuilder::new().recursive(true).mode(0o700).create(to)?;
                is_folder_made = true;
            }
            link_one(&entry.path(), &target)?;
        }
    }
    Ok(())
}

fn link_one(file: &Path, name: &Path) -> io::Result<()> {
    match fs::hard_link(file, name) {
        Err(error) if is_harmless(&error) => Ok(()),
        linked => linked,
    }
}

fn is_harmless(error: &io::Error) -> bool {
    let other_filesystem = error.kind() == io::ErrorKind::CrossesDevices;
    error.kind() == io::ErrorKind::AlreadyExists || other_filesystem || is_absence(error)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn link_restores_deleted_files_and_keeps_existing_ones() {
        let temp = TempDir::new().unwrap();
        let (folder, guard) = (temp.path().join("folder"), temp.path().join("guard"));
        fs::create_dir_all(folder.join("below")).unwrap();
        fs::write(folder.join("below/one"), "1").unwrap();
        fs::write(folder.join("two"), "2").unwrap();
        link(&folder, &guard).unwrap();
        link(&folder, &guard).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("two"), "newer").unwrap();
        link(&guard, &folder).unwrap();
        assert_eq!(fs::read_to_string(folder.join("below/one")).unwrap(), "1");
        assert_eq!(fs::read_to_string(folder.join("two")).unwrap(), "newer");
    }

    #[test]
    fn link_from_a_missing_folder_creates_nothing() {
        let temp = TempDir::new().unwrap();
        link(&temp.path().join("no"), &temp.path().join("guard")).unwrap();
        assert!(!temp.path().join("guard").exists());
    }
}
