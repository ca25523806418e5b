//! Reads files below a folder. A symlink cannot lead to a file outside of that folder.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

/// Opening never blocks (on a FIFO, for example) and never acquires a controlling terminal.
const READ: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
const FOLDER: OFlags = OFlags::PATH.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);

/// Reads a text file below a folder. The file is opened once and read once, so that the caller
/// checks and uses the same content. Fails if the path is absolute or leads out of the folder, or if
/// the file is not regular, has more than `max_bytes` bytes or is not UTF-8.
pub fn read_text(folder: &Path, path: &Path, max_bytes: u64) -> io::Result<String> {
    let file = File::from(open(folder, path).map_err(outside)?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(io::Error::other(format!("it is larger than {max_bytes} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

fn open(folder: &Path, path: &Path) -> Result<OwnedFd, Errno> {
    let folder = openat(CWD, folder, FOLDER, Mode::empty())?;
    let beneath = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);
    match openat2(&folder, path, READ, Mode::empty(), beneath) {
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(folder, path),
        opened => opened,
    }
}

/// Opens one path component after the other, for kernels without `openat2`. Follows no symlink.
fn step_by_step(folder: OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let mut at = folder;
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let name = match part {
            Component::Normal(name) => name,
            Component::CurDir => continue,
            _ => return Err(Errno::XDEV),
        };
        let flags = if parts.peek().is_some() { FOLDER } else { READ };
        at = openat(at.as_fd(), name, flags.union(OFlags::NOFOLLOW), Mode::empty())?;
    }
    Ok(at)
}

fn outside(error: Errno) -> io::Error {
    match error {
        Errno::XDEV => io::Error::other("it leads out of the project's folder"),
        Errno::LOOP => io::Error::other("it leads through a symlink that may not be followed"),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{FileType, mknodat};
    use tempfile::TempDir;

    use super::*;

    fn ground() -> TempDir {
        let temp = TempDir::new().unwrap();
        let project = temp.path().join("project");
        fs::create_dir_all(project.join("prompts")).unwrap();
        fs::write(project.join("prompts/a.md"), "a").unwrap();
        fs::write(temp.path().join("secret"), "secret").unwrap();
        symlink("prompts/a.md", project.join("inside")).unwrap();
        symlink("../secret", project.join("outside")).unwrap();
        symlink(temp.path().join("secret"), project.join("absolute")).unwrap();
        symlink("..", project.join("folder")).unwrap();
        symlink("/proc/self", project.join("proc")).unwrap();
        let mode = Mode::from_raw_mode(0o600);
        mknodat(CWD, project.join("pipe"), FileType::Fifo, mode, 0).unwrap();
        fs::write(project.join("large"), "123456789").unwrap();
        fs::write(project.join("torn"), [0xff]).unwrap();
        temp
    }

    #[test]
    fn only_regular_files_below_the_folder_are_read() {
        let temp = ground();
        let project = temp.path().join("project");
        let read = |path: &str| read_text(&project, Path::new(path), 8);
        for path in ["prompts/a.md", "./prompts/a.md", "inside", "prompts/../inside"] {
            assert_eq!(read(path).unwrap(), "a", "{path}");
        }
        let absolute = temp.path().join("project/prompts/a.md");
        let table = [
            ("../secret", "leads out"),
            ("prompts/../../secret", "leads out"),
            ("outside", "leads out"),
            ("absolute", "leads out"),
            ("folder/secret", "leads out"),
            ("proc/environ", "leads out"),
            ("/proc/self/environ", "leads out"),
            ("/etc/passwd", "leads out"),
            (absolute.to_str().unwrap(), "leads out"),
            ("pipe", "not a regular file"),
            ("prompts", "not a regular file"),
            ("/dev/zero", "leads out"),
            ("large", "larger than 8 bytes"),
            ("torn", "not UTF-8"),
        ];
        for (path, words) in table {
            let error = read(path).unwrap_err().to_string();
            assert!(error.contains(words), "{path}: {error}");
        }
        assert_eq!(read("gone").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn step_by_step_follows_no_symlink() {
        let temp = ground();
        let open = |path: &str| {
            let folder = openat(CWD, temp.path().join("project"), FOLDER, Mode::empty()).unwrap();
            step_by_step(folder, Path::new(path))
        };
        assert!(open("prompts/a.md").is_ok() && open("./prompts/a.md").is_ok());
        for path in
            ["inside", "outside", "folder/secret", "../secret", "/etc/passwd", "proc/environ"]
        {
            assert!(open(path).is_err(), "{path}");
        }
    }
}
