//! Files beside a transcript that belong to it: kept and brought back with it, name by name.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// Deeper than any vendor nests its files.
const DEEPEST: usize = 6;

/// Gives every regular file below one folder a second name below another, unless that name is
/// taken. What lies on another filesystem is left.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    link_below(from, to, DEEPEST)
}

fn link_below(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    let entries = match fs::read_dir(from) {
        Err(error) if is_absence(&error) => return Ok(()),
        entries => entries?,
    };
    let mut made = false;
    for entry in entries {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() && depth > 0 {
            link_below(&entry.path(), &target, depth - 1)?;
        } else if kind.is_file() {
            if !made {
                DirBuilder::new().recursive(true).mode(0o700).create(to)?;
                made = true;
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

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn what_was_deleted_comes_back_and_what_is_there_stays() {
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
    fn an_absent_folder_has_no_belongings() {
        let temp = TempDir::new().unwrap();
        link(&temp.path().join("no"), &temp.path().join("guard")).unwrap();
        assert!(!temp.path().join("guard").exists());
    }
}
