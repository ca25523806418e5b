//! Adds up the disk space of folders.
//!
//! The contents of each directory are remembered with the directory's inode, its mtime and its ctime.
//! A directory whose stamp is the same has the same entries, so its files are not examined again: a
//! second call looks at the directories alone. A file that grows in place changes no directory.
//! Callers name the folders in which that may have happened ([`FolderUse`]), and these are read in
//! full.

mod records;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use segue_core::ports::{DiskAreas, DiskMeasurement, DiskMeter, FolderUse, MeasuredFolder};

use self::records::{DirectoryReader, DirectoryRecord};
use crate::paths::Paths;

/// The disk space of folders of this machine.
#[derive(Debug)]
pub struct LocalDiskMeter {
    areas: DiskAreas,
    /// The folders of the last measurement.
    known: Mutex<HashMap<PathBuf, FolderRecord>>,
}

/// A measured folder.
#[derive(Debug)]
struct FolderRecord {
    /// When its files were last read in full.
    read_at: Timestamp,
    top: DirectoryRecord,
}

impl LocalDiskMeter {
    pub fn new(paths: &Paths) -> Self {
        let areas = DiskAreas {
            data: paths.data().to_owned(),
            state: paths.state().to_owned(),
            archive: paths.archive(),
            clones: paths.clones(),
        };
        Self { areas, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, FolderRecord>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DiskMeter for LocalDiskMeter {
    fn areas(&self) -> DiskAreas {
        self.areas.clone()
    }

    fn measure(&self, folders: &[MeasuredFolder], now: Timestamp) -> DiskMeasurement {
        // Two measurements at the same time would read everything twice.
        let mut known = self.known();
        let others: HashSet<&Path> = folders.iter().map(|it| it.path.as_path()).collect();
        let mut reader = DirectoryReader::new(&others, now);
        let mut records = HashMap::new();
        for folder in folders {
            let before = known.remove(&folder.path);
            let record = measure(&mut reader, (folder, before), now);
            records.extend(record.map(|record| (folder.path.clone(), record)));
        }
        let mut counted = HashSet::new();
        let bytes = folders.iter().map(|it| records.get(&it.path));
        let bytes = bytes.map(|it| it.map_or(0, |it| it.top.bytes(&mut counted))).collect();
        // Folders that are not measured any more are forgotten.
        *known = records;
        drop(known);
        DiskMeasurement { bytes, unreadable: reader.unreadable, examined: reader.examined }
    }
}

/// Measures one folder. `None` if it is missing.
fn measure(
    reader: &mut DirectoryReader<'_>,
    (folder, before): (&MeasuredFolder, Option<FolderRecord>),
    now: Timestamp,
) -> Option<FolderRecord> {
    let is_current = |read_at: Timestamp| match folder.last_use {
        FolderUse::Now => false,
        FolderUse::Until(changed_at) => read_at > changed_at,
    };
    match before.filter(|before| is_current(before.read_at)) {
        Some(FolderRecord { read_at, top }) => {
            let top = reader.read(&folder.path, Some(top))?;
            Some(FolderRecord { read_at, top })
        }
        None => {
            let top = reader.read(&folder.path, None)?;
            Some(FolderRecord { read_at: now, top })
        }
    }
}

#[cfg(test)]
mod tests;
