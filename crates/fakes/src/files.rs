//! The files of vendors, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use segue_core::ports::{FileFacts, Files, NewContents, Taken};

use crate::{Calls, Disk, samples};

/// Reads and writes a [`Disk`].
#[derive(Debug)]
pub struct FakeFiles {
    calls: Calls,
    disk: Disk,
    open: Mutex<BTreeSet<(u32, PathBuf)>>,
    lengths: Mutex<BTreeMap<PathBuf, u64>>,
}

impl FakeFiles {
    pub(crate) fn new(calls: Calls, disk: Disk) -> Self {
        Self { calls, disk, open: Mutex::default(), lengths: Mutex::default() }
    }

    /// Makes a process have a file open.
    pub fn open_in(&self, pid: u32, path: impl Into<PathBuf>) {
        self.open.lock().unwrap().insert((pid, path.into()));
    }

    /// Makes a file report another length than it has, so that a test of a long file needs none.
    pub fn pretend_length(&self, path: impl Into<PathBuf>, length: u64) {
        self.lengths.lock().unwrap().insert(path.into(), length);
    }

    fn bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.calls.enter_io("files.read")?;
        self.disk.read(path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Files for FakeFiles {
    fn facts(&self, path: &Path) -> io::Result<Option<FileFacts>> {
        self.calls.enter_io("files.facts")?;
        let Some(bytes) = self.disk.read(path) else { return Ok(None) };
        let inode = self.disk.inode(path).unwrap_or_default();
        let modified = self.disk.modified(inode).unwrap_or_else(samples::start);
        let length = self.lengths.lock().unwrap().get(path).copied();
        Ok(Some(FileFacts { length: length.unwrap_or(bytes.len() as u64), modified, inode }))
    }

    fn head(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        self.read_at(path, 0, limit)
    }

    fn tail(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        let bytes = self.bytes(path)?;
        Ok(bytes[bytes.len().saturating_sub(limit)..].to_vec())
    }

    fn read_at(&self, path: &Path, offset: u64, limit: usize) -> io::Result<Vec<u8>> {
        let bytes = self.bytes(path)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let end = start.saturating_add(limit).min(bytes.len());
        Ok(bytes[start..end].to_vec())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.calls.enter_io("files.list")?;
        let below = self.disk.files_below(folder);
        Ok(below.into_iter().filter(|it| it.parent() == Some(folder)).collect())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.calls.enter_io("files.remove")?;
        self.disk.remove(path);
        Ok(())
    }

    fn create(&self, path: &Path, contents: &[u8]) -> io::Result<bool> {
        self.calls.enter_io("files.create")?;
        if self.disk.read(path).is_some() {
            return Ok(false);
        }
        self.disk.write(path, contents);
        Ok(true)
    }

    fn begin(&self, path: &Path) -> io::Result<Box<dyn NewContents>> {
        self.calls.enter_io("files.begin")?;
        let (path, disk, calls) = (path.to_owned(), self.disk.clone(), self.calls.clone());
        Ok(Box::new(Draft { path, disk, calls, bytes: Vec::new() }))
    }

    fn is_open_in(&self, path: &Path, pid: u32) -> bool {
        self.open.lock().unwrap().contains(&(pid, path.to_owned()))
    }

    fn opened_in(&self, folder: &Path, pid: Option<u32>) -> Vec<(u32, PathBuf)> {
        let is_wanted = |(owner, path): &&(u32, PathBuf)| {
            path.starts_with(folder) && pid.is_none_or(|pid| pid == *owner)
        };
        self.open.lock().unwrap().iter().filter(is_wanted).cloned().collect()
    }

    fn end_last_line(&self, path: &Path) -> io::Result<bool> {
        self.calls.enter_io("files.end_last_line")?;
        let bytes = self.disk.read(path).unwrap_or_default();
        let is_ended = bytes.is_empty() || bytes.ends_with(b"\n");
        if !is_ended {
            self.disk.append(path, b"\n");
        }
        Ok(!is_ended)
    }
}

/// A file that has no name yet.
#[derive(Debug)]
struct Draft {
    path: PathBuf,
    disk: Disk,
    calls: Calls,
    bytes: Vec<u8>,
}

impl NewContents for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.calls.enter_io("files.write")?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn copy_lines(&mut self, from: &Path) -> io::Result<()> {
        self.calls.enter_io("files.copy")?;
        let bytes = self.disk.read(from).ok_or(io::ErrorKind::NotFound)?;
        self.bytes.extend_from_slice(&bytes);
        if !self.bytes.ends_with(b"\n") {
            self.bytes.push(b'\n');
        }
        Ok(())
    }

    fn copy_start(&mut self, from: &Path, length: u64) -> io::Result<()> {
        self.calls.enter_io("files.copy")?;
        let bytes = self.disk.read(from).ok_or(io::ErrorKind::NotFound)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..length]);
        Ok(())
    }

    fn finish(self: Box<Self>, taken: Taken) -> io::Result<()> {
        self.calls.enter_io("files.finish")?;
        if taken == Taken::Refuse && self.disk.read(&self.path).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.disk.replace(&self.path, &self.bytes);
        Ok(())
    }
}
