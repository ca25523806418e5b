//! What is remembered about directories.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

/// Number of bytes in a block of `st_blocks`.
const BLOCK_BYTES: u64 = 512;

/// A directory that changed this short a time before it was read may have changed again without
/// another mtime: file systems store times in steps.
const SETTLING: Duration = Duration::from_secs(2);

/// What identifies a state of a directory's list of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DirectoryStamp {
    inode: (u64, u64),
    modified: (i64, i64),
    changed: (i64, i64),
}

impl DirectoryStamp {
    fn of(facts: &Metadata) -> Self {
        Self {
            inode: (facts.dev(), facts.ino()),
            modified: (facts.mtime(), facts.mtime_nsec()),
            changed: (facts.ctime(), facts.ctime_nsec()),
        }
    }
}

/// A directory and everything below it.
#[derive(Debug)]
pub(super) struct DirectoryRecord {
    /// `None` if the directory changed shortly before it was read.
    stamp: Option<DirectoryStamp>,
    /// The bytes of the directory itself and of its files with one name.
    own_bytes: u64,
    /// The files with several names.
    linked: Vec<LinkedFile>,
    directories: Vec<(OsString, Self)>,
}

/// A file with several names.
#[derive(Clone, Copy, Debug)]
struct LinkedFile {
    inode: (u64, u64),
    bytes: u64,
}

impl DirectoryRecord {
    /// Adds up all bytes. A file with several names counts if it is not `counted` yet.
    pub(super) fn bytes(&self, counted: &mut HashSet<(u64, u64)>) -> u64 {
        let linked = self.linked.iter().filter(|it| counted.insert(it.inode)).map(|it| it.bytes);
        let own = self.own_bytes + linked.sum::<u64>();
        own + self.directories.iter().map(|(_, below)| below.bytes(counted)).sum::<u64>()
    }
}

/// Reads directories.
#[derive(Debug)]
pub(super) struct DirectoryReader<'a> {
    /// Folders that are measured on their own.
    others: &'a HashSet<&'a Path>,
    /// Directories that changed later than this have no stamp.
    settled_before: SystemTime,
    pub(super) examined: u64,
    pub(super) unreadable: Vec<PathBuf>,
}

impl<'a> DirectoryReader<'a> {
    pub(super) fn new(others: &'a HashSet<&'a Path>, now: Timestamp) -> Self {
        let settled_before = SystemTime::from(now) - SETTLING;
        Self { others, settled_before, examined: 0, unreadable: Vec::new() }
    }

    /// Reads a directory. With an earlier record, reads only what has changed since. `None` if there
    /// is no such directory.
    pub(super) fn read(
        &mut self,
        path: &Path,
        before: Option<DirectoryRecord>,
    ) -> Option<DirectoryRecord> {
        self.examined += 1;
        let facts = match fs::symlink_metadata(path) {
            Ok(facts) if facts.is_dir() => facts,
            Ok(_) => return None,
            Err(error) => {
                self.note(path, &error);
                return None;
            }
        };
        let stamp = DirectoryStamp::of(&facts);
        match before {
            Some(before) if before.stamp == Some(stamp) => Some(self.read_below(path, before)),
            before => Some(self.read_entries(path, &facts, before)),
        }
    }

    /// Looks at the directories below a directory whose own entries are the same.
    fn read_below(&mut self, path: &Path, before: DirectoryRecord) -> DirectoryRecord {
        let DirectoryRecord { stamp, own_bytes, linked, directories } = before;
        let mut below = Vec::with_capacity(directories.len());
        for (name, record) in directories {
            let path = path.join(&name);
            if !self.others.contains(path.as_path()) {
                below.extend(self.read(&path, Some(record)).map(|record| (name, record)));
            }
        }
        DirectoryRecord { stamp, own_bytes, linked, directories: below }
    }

    /// Examines every entry of a directory.
    fn read_entries(
        &mut self,
        path: &Path,
        facts: &Metadata,
        before: Option<DirectoryRecord>,
    ) -> DirectoryRecord {
        let is_settled = facts.modified().is_ok_and(|at| at < self.settled_before);
        let mut record = DirectoryRecord {
            stamp: is_settled.then(|| DirectoryStamp::of(facts)),
            own_bytes: facts.blocks() * BLOCK_BYTES,
            linked: Vec::new(),
            directories: Vec::new(),
        };
        let mut before: HashMap<OsString, DirectoryRecord> =
            before.into_iter().flat_map(|before| before.directories).collect();
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => {
                self.note(path, &error);
                return record;
            }
        };
        for entry in entries {
            let examined = entry.and_then(|entry| Ok((entry.metadata()?, entry)));
            let (facts, entry) = match examined {
                Ok(examined) => examined,
                Err(error) => {
                    self.note(path, &error);
                    continue;
                }
            };
            if facts.is_dir() {
                let (name, path) = (entry.file_name(), entry.path());
                // A folder that is measured on its own is not part of this one.
                if !self.others.contains(path.as_path()) {
                    let below = self.read(&path, before.remove(&name));
                    record.directories.extend(below.map(|below| (name, below)));
                }
            } else {
                self.examined += 1;
                record.add_file(&facts);
            }
        }
        record
    }

    /// Remembers a folder that cannot be read. A file that was deleted meanwhile uses no space.
    fn note(&mut self, path: &Path, error: &io::Error) {
        if error.kind() != ErrorKind::NotFound {
            self.unreadable.push(path.to_owned());
        }
    }
}

impl DirectoryRecord {
    fn add_file(&mut self, facts: &Metadata) {
        let bytes = facts.blocks() * BLOCK_BYTES;
        match facts.nlink() {
            0 | 1 => self.own_bytes += bytes,
            _ => self.linked.push(LinkedFile { inode: (facts.dev(), facts.ino()), bytes }),
        }
    }
}
