//! The contents of folders, byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Returns all files below a folder with their kinds, permissions and contents. Leaves out the
/// `.git` of the folder itself, and files that git rewrites whenever it looks at a repository.
pub(crate) fn contents(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(&below).unwrap() {
            let path = entry.unwrap().path();
            let relative = path.strip_prefix(folder).unwrap().to_owned();
            let facts = fs::symlink_metadata(&path).unwrap();
            if relative == Path::new(".git") || relative.ends_with(".git/index") {
                continue;
            }
            if facts.is_dir() {
                folders.push(path);
                continue;
            }
            let content = match facts.is_symlink() {
                true => fs::read_link(&path).unwrap().into_os_string().into_vec(),
                false => fs::read(&path).unwrap(),
            };
            files.insert(relative, (facts.permissions().mode(), content));
        }
    }
    files
}
