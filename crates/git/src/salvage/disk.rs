//! Looks at files on disk, without following symlinks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use segue_core::{Error, Result};

use super::names::is_storable;
use crate::failure::cannot;
use crate::objects::FileMode;

/// Permissions that a checkout gives to files, with the usual values of `umask`.
const USUAL_PERMISSIONS: [u32; 4] = [0o644, 0o755, 0o664, 0o775];

/// A file on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiskFile {
    /// Relative to the folder that was looked at.
    pub(super) path: Vec<u8>,
    pub(super) content: DiskContent,
    /// The permissions, if they are not the usual ones.
    pub(super) permissions: Option<u32>,
}

/// The content of a file on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DiskContent {
    /// A regular file, with or without the permission to execute it.
    File {
        mode: FileMode,
    },
    Symlink {
        target: Vec<u8>,
    },
}

impl DiskFile {
    fn is_symlink(&self) -> bool {
        matches!(self.content, DiskContent::Symlink { .. })
    }
}

/// What a folder contains.
#[derive(Debug, Default)]
pub(super) struct DiskFiles {
    pub(super) files: Vec<DiskFile>,
    /// Folders without entries.
    pub(super) empty_folders: Vec<Vec<u8>>,
    /// Pipes, sockets and devices. They have no content.
    pub(super) special: Vec<Vec<u8>>,
}

/// Looks at these paths in a folder. Missing files and folders are left out, as are files below
/// symlinks.
pub(super) async fn look_at(folder: PathBuf, paths: Vec<Vec<u8>>) -> Result<DiskFiles> {
    blocking(move || {
        let mut found = DiskFiles::default();
        let mut parents = RealFolders { root: folder.clone(), known: HashMap::new() };
        for path in paths {
            let full = join(&folder, &path);
            if !parents.has_real_parent(Path::new(std::ffi::OsStr::from_bytes(&path))) {
                continue;
            }
            match fs::symlink_metadata(&full) {
                Ok(facts) if facts.is_dir() => {}
                Ok(facts) => found.add(path, &full, &facts)?,
                Err(error) if is_absence(&error) => {}
                Err(error) => return Err(cannot("read", &full, &error)),
            }
        }
        Ok(found)
    })
    .await
}

/// Returns those of the paths in a folder that are folders, and not below symlinks.
pub(super) async fn folders_at(
    folder: PathBuf,
    paths: BTreeSet<Vec<u8>>,
) -> Result<BTreeSet<Vec<u8>>> {
    blocking(move || {
        let mut parents = RealFolders { root: folder.clone(), known: HashMap::new() };
        let mut is_folder = |path: &Vec<u8>| {
            parents.has_real_parent(Path::new(std::ffi::OsStr::from_bytes(path)))
                && fs::symlink_metadata(join(&folder, path)).is_ok_and(|facts| facts.is_dir())
        };
        Ok(paths.into_iter().filter(|path| is_folder(path)).collect())
    })
    .await
}

/// Looks at everything below a folder. Leaves out the paths for which `is_left_out` returns `true`.
pub(super) async fn look_below(
    folder: PathBuf,
    is_left_out: fn(&[u8]) -> bool,
) -> Result<DiskFiles> {
    blocking(move || {
        let mut found = DiskFiles::default();
        let mut folders = vec![Vec::new()];
        while let Some(below) = folders.pop() {
            let here = join(&folder, &below);
            let failed = |error| cannot("read", &here, &error);
            let mut is_empty = true;
            for entry in fs::read_dir(&here).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                is_empty = false;
                let path = joined(&below, entry.file_name().as_bytes());
                let facts = entry.metadata().map_err(failed)?;
                match facts.is_dir() {
                    _ if is_left_out(&path) => {}
                    true => folders.push(path),
                    false => found.add(path, &entry.path(), &facts)?,
                }
            }
            if is_empty && !below.is_empty() {
                found.empty_folders.push(below);
            }
        }
        found.files.sort_by(|one, other| one.path.cmp(&other.path));
        found.empty_folders.sort();
        Ok(found)
    })
    .await
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Error::internal("cannot look at files").caused_by(error))?
}

impl DiskFiles {
    fn add(&mut self, path: Vec<u8>, full: &Path, facts: &Metadata) -> Result<()> {
        let bits = facts.permissions().mode() & 0o7777;
        let content = if facts.is_symlink() {
            let target = fs::read_link(full).map_err(|error| cannot("read", full, &error))?;
            DiskContent::Symlink { target: target.into_os_string().into_vec() }
        } else if facts.is_file() {
            let is_executable = bits & 0o100 != 0;
            let mode = if is_executable { FileMode::Executable } else { FileMode::Regular };
            DiskContent::File { mode }
        } else {
            self.special.push(path);
            return Ok(());
        };
        let is_usual = facts.is_symlink() || USUAL_PERMISSIONS.contains(&bits);
        self.files.push(DiskFile { path, content, permissions: (!is_usual).then_some(bits) });
        Ok(())
    }

    /// Takes out the files whose names no tree of git can have.
    pub(super) fn take_unstorable(&mut self) -> Self {
        let is_storable = |file: &DiskFile| is_storable(&file.path, file.is_symlink());
        let (storable, unstorable) = self.files.drain(..).partition(is_storable);
        self.files = storable;
        Self { files: unstorable, ..Self::default() }
    }

    /// Returns the permissions that are not the usual ones.
    pub(super) fn permissions(&self) -> BTreeMap<Vec<u8>, u32> {
        let unusual = |file: &DiskFile| Some((file.path.clone(), file.permissions?));
        self.files.iter().filter_map(unusual).collect()
    }
}

/// Remembers which folders below a root are reached without symlinks.
struct RealFolders {
    root: PathBuf,
    known: HashMap<PathBuf, bool>,
}

impl RealFolders {
    fn has_real_parent(&mut self, path: &Path) -> bool {
        let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else {
            return true;
        };
        if let Some(known) = self.known.get(parent) {
            return *known;
        }
        let is_folder = fs::symlink_metadata(self.root.join(parent)).is_ok_and(|it| it.is_dir());
        let is_real = is_folder && self.has_real_parent(parent);
        self.known.insert(parent.to_owned(), is_real);
        is_real
    }
}

pub(super) fn join(folder: &Path, path: &[u8]) -> PathBuf {
    folder.join(std::ffi::OsStr::from_bytes(path))
}

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn paths(found: &DiskFiles) -> Vec<String> {
        let text = |file: &DiskFile| String::from_utf8_lossy(&file.path).into_owned();
        found.files.iter().map(text).collect()
    }

    #[tokio::test]
    async fn files_below_symlinks_are_not_files_of_the_folder() {
        let temp = tempfile::TempDir::new().unwrap();
        fs::create_dir_all(temp.path().join("outside")).unwrap();
        fs::write(temp.path().join("outside/secret"), "x").unwrap();
        let folder = temp.path().join("folder");
        fs::create_dir_all(folder.join("real")).unwrap();
        fs::write(folder.join("real/file"), "x").unwrap();
        symlink("../outside", folder.join("link")).unwrap();
        let wanted = ["real/file", "real/gone", "link", "link/secret", "real", "gone/below"];
        let wanted = wanted.iter().map(|it| it.as_bytes().to_vec()).collect();
        let found = look_at(folder.clone(), wanted).await.unwrap();
        assert_eq!(paths(&found), ["real/file", "link"]);
        let found = look_below(folder, |_| false).await.unwrap();
        assert_eq!(paths(&found), ["link", "real/file"]);
    }

    #[tokio::test]
    async fn empty_folders_special_files_and_unusual_permissions_are_noted() {
        let temp = tempfile::TempDir::new().unwrap();
        let folder = temp.path();
        fs::create_dir_all(folder.join("a/empty")).unwrap();
        fs::write(folder.join("private"), "x").unwrap();
        fs::set_permissions(folder.join("private"), fs::Permissions::from_mode(0o600)).unwrap();
        let mode = rustix::fs::Mode::RUSR;
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, folder.join("pipe"), fifo, mode, 0).unwrap();
        let found = look_below(folder.to_owned(), |path| path == b"left").await.unwrap();
        assert_eq!(found.empty_folders, [b"a/empty".to_vec()]);
        assert_eq!(found.special, [b"pipe".to_vec()]);
        assert_eq!(found.permissions(), BTreeMap::from([(b"private".to_vec(), 0o600)]));
    }
}
