//! Reads the `.env` files of a folder.

use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// How the name of such a file begins.
const PREFIX: &str = ".env";
/// Maximum number of files that are read.
const MAX_FILES: usize = 32;
/// Maximum number of the folder's entries that are examined.
const MAX_ENTRIES: usize = 10_000;
/// Maximum size of a file that is read. People write `.env` files by hand, so a larger file is
/// something else and is skipped.
const MAX_FILE_BYTES: u64 = 256 * 1024;

/// Returns the contents of the folder's files whose names begin with `.env`. Returns nothing if the
/// folder cannot be read.
pub(crate) fn read(folder: &Path) -> Vec<String> {
    let Ok(canonical) = fs::canonicalize(folder) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(&canonical) else { return Vec::new() };
    let has_prefix = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(PREFIX);
    let entries = entries.take(MAX_ENTRIES).flatten().filter(has_prefix);
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| read_inside(&canonical, path)).take(MAX_FILES).collect()
}

/// Reads a file if it is short, regular and inside the folder after symlinks were resolved.
fn read_inside(folder: &Path, path: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok().filter(|path| path.starts_with(folder))?;
    // A symlink or a named pipe may have replaced the file meanwhile. The symlink is not followed,
    // and the named pipe does not block.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_short_regular_files_inside_the_folder_are_read() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("shop");
        fs::create_dir_all(folder.join("config")).unwrap();
        fs::write(folder.join(".env"), "A=1").unwrap();
        fs::write(folder.join(".env.local"), "B=2").unwrap();
        fs::write(folder.join("env"), "C=3").unwrap();
        fs::write(folder.join("config/dev"), "D=4").unwrap();
        fs::write(top.path().join("outside"), "E=5").unwrap();
        fs::write(folder.join(".env.long"), "F=6\n".repeat(100_000)).unwrap();
        fs::create_dir(folder.join(".env.d")).unwrap();
        symlink("config/dev", folder.join(".env.linked")).unwrap();
        symlink("../outside", folder.join(".env.outside")).unwrap();
        symlink("/dev/zero", folder.join(".env.zero")).unwrap();
        symlink(".env.loop", folder.join(".env.loop")).unwrap();
        assert_eq!(read(&folder), ["A=1", "D=4", "B=2"]);
        assert_eq!(read(&top.path().join("nowhere")), Vec::<String>::new());
    }

    #[test]
    fn named_pipe_is_skipped_without_blocking() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".env");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
        assert_eq!(read(folder.path()), Vec::<String>::new());
    }
}
