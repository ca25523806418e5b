//! A file system in memory, with hard links.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use jiff::Timestamp;

/// Files and folders in memory. Clones share their contents.
#[derive(Clone, Debug, Default)]
pub struct Disk(Arc<Mutex<DiskState>>);

#[derive(Debug, Default)]
struct DiskState {
    /// The inode number of each file name.
    names: BTreeMap<PathBuf, u64>,
    contents: BTreeMap<u64, Vec<u8>>,
    /// Set by [`Disk::touch`] alone.
    modified: BTreeMap<u64, Timestamp>,
    folders: BTreeSet<PathBuf>,
    last_inode: u64,
}

impl Disk {
    /// Creates a folder, with its parents.
    pub fn create_folder(&self, path: impl AsRef<Path>) {
        let ancestors = path.as_ref().ancestors().map(Path::to_owned);
        self.0.lock().unwrap().folders.extend(ancestors);
    }

    pub fn has_folder(&self, path: &Path) -> bool {
        self.0.lock().unwrap().folders.contains(path)
    }

    /// Writes a file. If the file exists, its content is replaced under all of its names.
    pub fn write(&self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) {
        let path = path.as_ref();
        self.create_folder(path.parent().unwrap_or(Path::new("/")));
        let mut state = self.0.lock().unwrap();
        let inode = match state.names.get(path) {
            Some(inode) => *inode,
            None => state.new_name(path),
        };
        state.contents.insert(inode, contents.as_ref().to_vec());
    }

    /// Appends to a file, and creates it if it is missing.
    pub fn append(&self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) {
        let mut all = self.read(path.as_ref()).unwrap_or_default();
        all.extend_from_slice(contents.as_ref());
        self.write(path, all);
    }

    /// Writes a new file under this name. Other names of the old file keep their content.
    pub fn replace(&self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) {
        self.0.lock().unwrap().names.remove(path.as_ref());
        self.write(path, contents);
    }

    pub fn read(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let state = self.0.lock().unwrap();
        state.contents.get(state.names.get(path.as_ref())?).cloned()
    }

    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        self.read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the inode number of a file. Two names of one file have the same.
    pub fn inode(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.0.lock().unwrap().names.get(path.as_ref()).copied()
    }

    /// Sets when a file was modified.
    pub fn touch(&self, path: impl AsRef<Path>, modified: Timestamp) {
        let mut state = self.0.lock().unwrap();
        let inode = state.names.get(path.as_ref()).copied();
        state.modified.extend(inode.map(|inode| (inode, modified)));
    }

    pub(crate) fn modified(&self, inode: u64) -> Option<Timestamp> {
        self.0.lock().unwrap().modified.get(&inode).copied()
    }

    /// Gives a file another name, and keeps the old one. Returns whether the file exists.
    pub fn link(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> bool {
        let mut state = self.0.lock().unwrap();
        let Some(inode) = state.names.get(from.as_ref()).copied() else { return false };
        state.names.insert(to.as_ref().to_owned(), inode);
        true
    }

    /// Removes a file, or a folder with everything in it.
    pub fn remove(&self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        let mut state = self.0.lock().unwrap();
        state.names.retain(|name, _| !name.starts_with(path));
        state.folders.retain(|name| !name.starts_with(path));
    }

    /// Returns the names of the files at any depth below a folder.
    pub fn files_below(&self, folder: impl AsRef<Path>) -> Vec<PathBuf> {
        let state = self.0.lock().unwrap();
        state.names.keys().filter(|it| it.starts_with(folder.as_ref())).cloned().collect()
    }
}

impl DiskState {
    fn new_name(&mut self, path: &Path) -> u64 {
        self.last_inode += 1;
        self.names.insert(path.to_owned(), self.last_inode);
        self.last_inode
    }
}
