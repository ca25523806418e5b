//! A file that is written piece by piece. It gets its final name when it is complete.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use segue_core::failpoint;
use segue_core::ports::{NewContents, Taken};

use crate::atomic::{sync_folder, temporary_name};
use crate::files::open_regular;

const BUFFER_BYTES: usize = 256 * 1024;

/// An unfinished file. Dropping it removes the temporary file.
#[derive(Debug)]
pub(crate) struct StagedFile {
    path: PathBuf,
    temporary: PathBuf,
    file: BufWriter<File>,
}

impl StagedFile {
    pub(crate) fn begin(path: &Path) -> io::Result<Self> {
        let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        failpoint::hit("contents.begin.before");
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let temporary = temporary_name(path);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        failpoint::hit("contents.begin.after");
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(Self { path: path.to_owned(), temporary, file })
    }
}

impl NewContents for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn copy_lines(&mut self, from: &Path) -> io::Result<()> {
        let mut source = open_regular(from)?;
        let length = io::copy(&mut source, &mut self.file)?;
        let mut last = *b"\n";
        if length > 0 {
            source.seek(SeekFrom::Start(length - 1))?;
            source.read_exact(&mut last)?;
        }
        if last == *b"\n" { Ok(()) } else { self.file.write_all(b"\n") }
    }

    fn copy_start(&mut self, from: &Path, length: u64) -> io::Result<()> {
        io::copy(&mut open_regular(from)?.take(length), &mut self.file).map(drop)
    }

    fn finish(mut self: Box<Self>, taken: Taken) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        failpoint::hit("contents.finish.written");
        match taken {
            Taken::Replace => fs::rename(&self.temporary, &self.path)?,
            Taken::Refuse => fs::hard_link(&self.temporary, &self.path)?,
        }
        self.path.parent().map_or(Ok(()), sync_folder)?;
        failpoint::hit("contents.finish.after");
        Ok(())
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        // After a rename, the temporary name does not exist any more. After a hard link, it is not
        // needed any more. Without `finish`, the content is discarded.
        let _gone = fs::remove_file(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;

    fn begun(path: &Path) -> Box<StagedFile> {
        Box::new(StagedFile::begin(path).unwrap())
    }

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn file_appears_only_after_finish_and_a_dropped_file_is_removed() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("below/a/file.jsonl");
        let mut contents = begun(&path);
        contents.write(b"one\n").unwrap();
        assert!(!path.exists());
        drop(contents);
        assert_eq!(names(path.parent().unwrap()), 0, "the temporary file was not removed");
        let mut contents = begun(&path);
        contents.write(b"one\n").unwrap();
        contents.finish(Taken::Refuse).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(path.parent().unwrap()), 1);
    }

    #[test]
    fn finish_refuses_or_replaces_an_existing_file_as_asked() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("file.jsonl");
        fs::write(&path, "old\ntorn").unwrap();
        let mut contents = begun(&path);
        contents.write(b"new\n").unwrap();
        let refused = contents.finish(Taken::Refuse).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"old\ntorn");
        let mut contents = begun(&path);
        contents.copy_lines(&path).unwrap();
        contents.write(b"new\n").unwrap();
        contents.finish(Taken::Replace).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old\ntorn\nnew\n");
        assert_eq!(names(temp.path()), 1);
    }
}
