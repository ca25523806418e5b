//! Files below a folder, and programs that a test writes itself.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Returns all files below a folder, recursively. Symlinks are not followed. A missing folder has no
/// files.
pub fn below(folder: &Path) -> Vec<PathBuf> {
    let (folders, files) = entries(folder);
    files.into_iter().chain(folders.iter().flat_map(|it| below(it))).collect()
}

/// Returns all folders below a folder, recursively.
pub fn folders_below(folder: &Path) -> Vec<PathBuf> {
    let (folders, _) = entries(folder);
    folders.into_iter().flat_map(|it| [vec![it.clone()], folders_below(&it)].concat()).collect()
}

/// Returns the folders and the files directly in a folder.
fn entries(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => folders.push(entry.path()),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    (folders, files)
}

/// Returns all files below a folder that contain this text.
pub fn containing(folder: &Path, text: &str) -> Vec<PathBuf> {
    let has_text = |path: &PathBuf| match fs::read(path) {
        Ok(bytes) => bytes.windows(text.len()).any(|part| part == text.as_bytes()),
        // A daemon may delete a file while its folder is read.
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => panic!("{}: {error}", path.display()),
    };
    below(folder).into_iter().filter(has_text).collect()
}

/// Returns the sorted names of the files in a folder. A missing folder has none.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Deletes a folder with everything in it, if it exists.
pub(crate) fn remove_folder(folder: &Path) {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => panic!("{error}"),
        _ => {}
    }
}

/// Writes a program that every user may run, such as a shell script. Creates its folder if it is
/// missing.
pub fn write_program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a program");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
}
