//! Reads and writes regular files on the local disk.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::OFlags;
use segue_core::failpoint;
use segue_core::ports::{FileFacts, Files, NewContents};

use crate::staged_file::StagedFile;
use crate::{atomic, points, process};

/// The files on the local disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalFiles;

impl Files for LocalFiles {
    fn facts(&self, path: &Path) -> io::Result<Option<FileFacts>> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let nanoseconds = i32::try_from(metadata.mtime_nsec()).unwrap_or_default();
        let modified = Timestamp::new(metadata.mtime(), nanoseconds).map_err(io::Error::other)?;
        Ok(Some(FileFacts { length: metadata.len(), modified, inode: metadata.ino() }))
    }

    fn head(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        self.read_at(path, 0, limit)
    }

    fn tail(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        let file = open_regular(path)?;
        let length = file.metadata()?.len();
        read_from(file, length.saturating_sub(limit as u64), limit)
    }

    fn read_at(&self, path: &Path, offset: u64, limit: usize) -> io::Result<Vec<u8>> {
        read_from(open_regular(path)?, offset, limit)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
        let mut paths = paths?;
        paths.sort();
        Ok(paths)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let removed = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if is_absence(&error) => Ok(()),
            removed => removed,
        }
    }

    fn create(&self, path: &Path, contents: &[u8]) -> io::Result<bool> {
        if fs::symlink_metadata(path).is_ok() {
            return Ok(false);
        }
        let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        atomic::create(path, contents, points!("file.create"))
    }

    fn begin(&self, path: &Path) -> io::Result<Box<dyn NewContents>> {
        Ok(Box::new(StagedFile::begin(path)?))
    }

    fn is_open_in(&self, path: &Path, pid: u32) -> bool {
        process::has_open(pid, path)
    }

    fn opened_in(&self, folder: &Path, pid: Option<u32>) -> Vec<(u32, PathBuf)> {
        // The kernel reports open files by their real paths, so symlinks in the folder's path are
        // resolved first.
        let Ok(real) = fs::canonicalize(folder) else { return Vec::new() };
        let pids = pid.map_or_else(process::all, |pid| vec![pid]);
        let is_in_folder = |path: &Path| path.parent() == Some(&*real);
        let open = |pid: u32| {
            let files = process::open_files(pid).into_iter().filter(|path| is_in_folder(path));
            files.filter_map(move |path| Some((pid, folder.join(path.file_name()?))))
        };
        pids.into_iter().flat_map(|pid| open(pid).collect::<Vec<_>>()).collect()
    }

    fn end_last_line(&self, path: &Path) -> io::Result<bool> {
        let mut options = OpenOptions::new();
        let mut file = open_regular_with(path, options.read(true).append(true))?;
        if !has_incomplete_line(&mut file)? {
            return Ok(false);
        }
        failpoint::hit("transcript.end_line.before");
        file.write_all(b"\n")?;
        file.sync_all()?;
        failpoint::hit("transcript.end_line.after");
        Ok(true)
    }
}

/// Opens a regular file for reading. Refuses pipes and devices, because reading them could block or
/// have side effects.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    open_regular_with(path, OpenOptions::new().read(true))
}

fn open_regular_with(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    refuse_irregular(&fs::metadata(path)?)?;
    // The file may have been replaced since this check. Open the replacement without blocking, and
    // check it again.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    refuse_irregular(&file.metadata()?)?;
    Ok(file)
}

fn refuse_irregular(metadata: &fs::Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

/// Returns whether a file is not empty and does not end with a newline.
pub(crate) fn has_incomplete_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn read_from(mut file: File, offset: u64, limit: usize) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(limit as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns whether an error means that a path does not exist.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use tempfile::TempDir;

    use super::*;

    fn file(content: &[u8]) -> (TempDir, PathBuf) {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("transcript.jsonl");
        fs::write(&path, content).unwrap();
        (temp, path)
    }

    #[test]
    fn head_tail_and_read_at_return_only_the_requested_bytes() {
        let (_temp, path) = file(b"0123456789");
        assert_eq!(LocalFiles.head(&path, 3).unwrap(), b"012");
        assert_eq!(LocalFiles.tail(&path, 3).unwrap(), b"789");
        assert_eq!(LocalFiles.tail(&path, 99).unwrap(), b"0123456789");
        assert_eq!(LocalFiles.read_at(&path, 8, 99).unwrap(), b"89");
        assert_eq!(LocalFiles.read_at(&path, 99, 5).unwrap(), b"");
    }

    #[test]
    fn tail_of_a_huge_file_reads_only_its_end() {
        let (_temp, path) = file(b"");
        File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(LocalFiles.tail(&path, 4).unwrap(), [0; 4]);
        assert_eq!(LocalFiles.facts(&path).unwrap().unwrap().length, 1 << 40);
    }

    #[test]
    fn pipes_devices_and_folders_are_refused_without_blocking() {
        let temp = TempDir::new().unwrap();
        let pipe = temp.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for path in [pipe.as_path(), Path::new("/dev/zero"), temp.path()] {
            let error = LocalFiles.head(path, 1).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{}", path.display());
            assert!(LocalFiles.end_last_line(path).is_err());
        }
    }

    #[test]
    fn end_last_line_adds_one_newline_to_a_torn_line() {
        let (_temp, path) = file(b"{\"a\":1}\n{\"b\"");
        assert!(LocalFiles.end_last_line(&path).unwrap());
        assert!(!LocalFiles.end_last_line(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"{\"a\":1}\n{\"b\"\n");
        let (_temp, empty) = file(b"");
        assert!(!LocalFiles.end_last_line(&empty).unwrap());
    }

    #[test]
    fn missing_files_and_folders_are_not_errors() {
        let (temp, path) = file(b"x");
        assert_eq!(LocalFiles.facts(&temp.path().join("no")).unwrap(), None);
        assert_eq!(LocalFiles.facts(&path.join("below a file")).unwrap(), None);
        assert_eq!(LocalFiles.list(&temp.path().join("no")).unwrap(), Vec::<PathBuf>::new());
        assert_eq!(LocalFiles.list(temp.path()).unwrap(), std::slice::from_ref(&path));
        LocalFiles.remove(&path).unwrap();
        LocalFiles.remove(&path).unwrap();
        assert_eq!(LocalFiles.facts(&path).unwrap(), None);
    }

    #[test]
    fn open_files_are_found_through_a_symlinked_folder() {
        let (temp, path) = file(b"x");
        let link = temp.path().join("link");
        std::os::unix::fs::symlink(temp.path(), &link).unwrap();
        let own = std::process::id();
        assert_eq!(LocalFiles.opened_in(&link, Some(own)), []);
        let _open = File::open(&path).unwrap();
        let expected = [(own, link.join("transcript.jsonl"))];
        assert_eq!(LocalFiles.opened_in(&link, Some(own)), expected);
        assert_eq!(LocalFiles.opened_in(&link, None), expected);
        assert!(LocalFiles.is_open_in(&path, own));
    }

    #[test]
    fn hard_links_of_one_file_have_the_same_inode() {
        let (temp, path) = file(b"x");
        let other = temp.path().join("other");
        fs::hard_link(&path, &other).unwrap();
        let inode = |path: &Path| LocalFiles.facts(path).unwrap().unwrap().inode;
        assert_eq!(inode(&path), inode(&other));
    }
}
