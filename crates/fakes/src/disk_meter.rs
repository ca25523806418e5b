//! The disk space of folders, as a test sets it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use jiff::Timestamp;
use segue_core::ports::{DiskAreas, DiskMeasurement, DiskMeter, MeasuredFolder};

use crate::Disk;

/// Folders with sizes of their own. A folder that the disk does not have has no bytes.
#[derive(Debug)]
pub struct FakeDiskMeter {
    disk: Disk,
    sizes: Mutex<BTreeMap<PathBuf, u64>>,
    measured: Mutex<Vec<MeasuredFolder>>,
}

impl FakeDiskMeter {
    pub(crate) fn new(disk: Disk) -> Self {
        Self { disk, sizes: Mutex::default(), measured: Mutex::default() }
    }

    /// Sets the bytes of a folder without the folders below it that are measured on their own.
    pub fn set(&self, folder: impl AsRef<Path>, bytes: u64) {
        self.disk.create_folder(&folder);
        self.sizes.lock().unwrap().insert(folder.as_ref().to_owned(), bytes);
    }

    /// Returns the folders of the last measurement.
    pub fn measured(&self) -> Vec<MeasuredFolder> {
        self.measured.lock().unwrap().clone()
    }
}

impl DiskMeter for FakeDiskMeter {
    fn areas(&self) -> DiskAreas {
        DiskAreas {
            data: "/data".into(),
            state: "/state".into(),
            archive: "/data/archive".into(),
            clones: "/data/clones".into(),
        }
    }

    fn measure(&self, folders: &[MeasuredFolder], _now: Timestamp) -> DiskMeasurement {
        *self.measured.lock().unwrap() = folders.to_vec();
        let sizes = self.sizes.lock().unwrap();
        let bytes = |it: &MeasuredFolder| match self.disk.has_folder(&it.path) {
            true => sizes.get(&it.path).copied().unwrap_or_default(),
            false => 0,
        };
        let bytes = folders.iter().map(bytes).collect();
        DiskMeasurement { bytes, unreadable: Vec::new(), examined: folders.len() as u64 }
    }
}
