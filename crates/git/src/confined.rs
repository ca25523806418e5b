//! Creates and changes files below a folder, never through a symlink. No file is overwritten.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, symlinkat, unlinkat};
use rustix::io::Errno;

/// Copies a file to a path below a folder. Returns `false` if the path exists already.
pub(crate) fn copy_below(folder: &Path, path: &Path, mut source: File) -> io::Result<bool> {
    let (parent, name) = parent_below(folder, path)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let created = openat(&parent, name, flags, Mode::RUSR | Mode::WUSR);
    let Some(target) = unless_there(created)? else { return Ok(false) };
    if let Err(error) = fill(File::from(target), &mut source) {
        // Leave no incomplete file. Report the error of the copy, not an error of this cleanup.
        let _removed = unlinkat(&parent, name, AtFlags::empty());
        return Err(error);
    }
    Ok(true)
}

fn fill(mut target: File, source: &mut File) -> io::Result<()> {
    io::copy(source, &mut target)?;
    let mode = source.metadata()?.permissions().mode() & 0o777;
    target.set_permissions(Permissions::from_mode(mode))
}

/// Makes a symlink at a path below a folder. Returns `false` if the path exists already.
pub(crate) fn link_below(folder: &Path, path: &Path, target: &Path) -> io::Result<bool> {
    let (parent, name) = parent_below(folder, path)?;
    Ok(unless_there(symlinkat(target, &parent, name))?.is_some())
}

/// Makes a folder at a path below a folder, which may exist.
pub(crate) fn make_folder_below(folder: &Path, path: &Path) -> io::Result<()> {
    parent_below(folder, &path.join("name")).map(drop)
}

/// Changes the permissions of a file below a folder. The file must not be a symlink.
pub(crate) fn set_permissions_below(folder: &Path, path: &Path, mode: u32) -> io::Result<()> {
    let (parent, name) = parent_below(folder, path)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(&parent, name, flags, Mode::empty())?);
    file.set_permissions(Permissions::from_mode(mode))
}

/// Opens the folder of a path below a folder. Creates missing folders.
fn parent_below<'a>(folder: &Path, path: &'a Path) -> io::Result<(OwnedFd, &'a OsStr)> {
    let not_below = || io::Error::new(io::ErrorKind::InvalidInput, "it is not below the folder");
    let name = path.file_name().ok_or_else(not_below)?;
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut parent = openat(CWD, folder, flags, Mode::empty())?;
    for component in path.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(name) = component else { return Err(not_below()) };
        match mkdirat(&parent, name, Mode::from_bits_truncate(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        parent = openat(&parent, name, flags, Mode::empty())?;
    }
    Ok((parent, name))
}

fn unless_there<T>(created: Result<T, Errno>) -> io::Result<Option<T>> {
    match created {
        Err(Errno::EXIST) => Ok(None),
        created => Ok(Some(created?)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_written_through_a_symlink_or_over_a_file() {
        let temp = tempfile::TempDir::new().unwrap();
        let (folder, outside) = (temp.path().join("folder"), temp.path().join("outside"));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(temp.path().join("source"), "new").unwrap();
        symlink("../outside", folder.join("link")).unwrap();
        symlink("../outside/target", folder.join("dangling")).unwrap();
        fs::write(folder.join("old"), "old").unwrap();
        let source = || File::open(temp.path().join("source")).unwrap();
        let copy = |path: &str| copy_below(&folder, Path::new(path), source());
        assert!(copy("link/x").is_err());
        assert!(copy("../outside/x").is_err());
        assert!(copy("/etc/x").is_err());
        assert!(!copy("dangling").unwrap());
        assert!(!copy("old").unwrap());
        assert!(copy("a/b/new").unwrap());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        assert_eq!(fs::read_to_string(folder.join("old")).unwrap(), "old");
        assert_eq!(fs::read_to_string(folder.join("a/b/new")).unwrap(), "new");
        let link = |path: &str| link_below(&folder, Path::new(path), &outside);
        assert!(!link("old").unwrap());
        assert!(link("link/x").is_err());
        assert!(link("node_modules").unwrap());
        assert_eq!(fs::read_link(folder.join("node_modules")).unwrap(), outside);
    }

    #[test]
    fn nothing_is_changed_through_a_symlink_or_outside_the_folder() {
        let temp = tempfile::TempDir::new().unwrap();
        let (folder, outside) = (temp.path().join("folder"), temp.path().join("outside"));
        fs::create_dir(&folder).unwrap();
        fs::write(&outside, "x").unwrap();
        fs::write(folder.join("inside"), "x").unwrap();
        symlink("../outside", folder.join("link")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let before = mode(&outside);
        let set = |path: &str| set_permissions_below(&folder, Path::new(path), 0o600);
        assert!(set("link").is_err() && set("../outside").is_err() && set("missing").is_err());
        set("inside").unwrap();
        assert_eq!((mode(&outside), mode(&folder.join("inside"))), (before, 0o600));
        let make = |path: &str| make_folder_below(&folder, Path::new(path));
        assert!(make("../made").is_err() && make("link/made").is_err());
        make("a/b").unwrap();
        make("a/b").unwrap();
        assert!(folder.join("a/b").is_dir() && !temp.path().join("made").exists());
    }

    #[test]
    fn copy_that_fails_leaves_no_file() {
        let temp = tempfile::TempDir::new().unwrap();
        // A folder can be opened and not be read.
        let source = File::open(temp.path()).unwrap();
        assert!(copy_below(temp.path(), Path::new("copy"), source).is_err());
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    }

    #[test]
    fn copy_keeps_the_permissions() {
        let temp = tempfile::TempDir::new().unwrap();
        let source = temp.path().join("source");
        fs::write(&source, "x").unwrap();
        fs::set_permissions(&source, Permissions::from_mode(0o600)).unwrap();
        copy_below(temp.path(), Path::new("copy"), File::open(&source).unwrap()).unwrap();
        let mode = fs::metadata(temp.path().join("copy")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
