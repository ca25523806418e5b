//! Reads the `.env` files of a folder.

use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

const START: &str = ".env";
/// Maximum number of files that are read.
const FILES: usize = 32;
/// Maximum number of entries of the folder that are examined.
const ENTRIES: usize = 10_000;
/// Maximum size of a file. Longer files are skipped: people write `.env` files by hand.
const BYTES: u64 = 256 * 1024;

/// Returns the contents of `.env` and of the files whose names begin with it.
pub(crate) fn read(folder: &Path) -> Vec<String> {
    let Ok(real) = fs::canonicalize(folder) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(&real) else { return Vec::new() };
    let is_named = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(START);
    let entries = entries.take(ENTRIES).flatten().filter(is_named);
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| read_inside(&real, path)).take(FILES).collect()
}

/// Reads a file if it is short, regular and inside the folder after symlinks were resolved.
fn read_inside(folder: &Path, path: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok().filter(|path| path.starts_with(folder))?;
    // The file may have been replaced since then. Do not follow a symlink, and do not block.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
    let facts = file.metadata().ok()?;
    if !facts.is_file() || facts.len() > BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(BYTES).read_to_end(&mut bytes).ok()?;
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
