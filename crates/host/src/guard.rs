//! The guard: a hard link to a live transcript. It survives the deletion of the transcript.

use std::fs::{self, DirBuilder, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use segue_core::ports::Guarded;
use segue_core::{Error, Result, failpoint};

use crate::atomic::{sync_folder, temporary_name};
use crate::failure::{cannot, quoted};
use crate::files::{has_incomplete_line, is_absence};

/// Makes sure that the guard is a hard link to the current transcript file. The launch folder, two
/// levels above the guard's own folder, must exist. So a removed launch gets no new guard.
pub(crate) fn keep(transcript: &Path, guard: &Path) -> Result<Guarded> {
    let failed = |error: &io::Error| cannot("guard", transcript, error);
    let Some((real, now)) = regular(transcript).map_err(|error| failed(&error))? else {
        return Ok(Guarded::NoTranscript);
    };
    let guarded = fs::symlink_metadata(guard).ok();
    if guarded.as_ref().is_some_and(|guarded| is_same(guarded, &now)) {
        return Ok(Guarded::Already);
    }
    failpoint::hit("guard.link.before");
    let linked = make_folder_of(guard)
        .and_then(|()| match guarded {
            // The vendor has started a new, shorter file. Keep the old content under another name.
            Some(guarded) if guarded.len() > now.len() => set_aside(guard),
            _ => Ok(()),
        })
        .and_then(|()| link(&real, guard));
    match linked {
        Ok(()) => {}
        Err(error) if is_unsupported(&error) => return Ok(Guarded::OtherFilesystem),
        Err(error) => return Err(failed(&error)),
    }
    failpoint::hit("guard.link.after");
    Ok(Guarded::Linked)
}

/// Hard-links the guarded file back to its old path. Never overwrites: another file at that path is
/// an error.
pub(crate) fn restore(guard: &Path, transcript: &Path) -> Result<()> {
    let failed = |error: &io::Error| cannot("restore", transcript, error);
    let guarded = fs::metadata(guard).map_err(|error| {
        Error::not_found(format!("`{}` has no guard", transcript.display())).caused_by(error)
    })?;
    let folder = transcript.parent().unwrap_or(Path::new("/"));
    failpoint::hit("transcript.restore.before");
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| failed(&error))?;
    match fs::hard_link(guard, transcript) {
        Ok(()) => sync_folder(folder).map_err(|error| failed(&error))?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let existing = fs::symlink_metadata(transcript).map_err(|error| failed(&error))?;
            if !is_same(&guarded, &existing) {
                return Err(other_file(guard, transcript));
            }
        }
        Err(error) => return Err(failed(&error)),
    }
    failpoint::hit("transcript.restore.after");
    Ok(())
}

/// Returns whether the beginning of the transcript is guarded but missing in the transcript.
pub(crate) fn lacks_beginning(guard: &Path, transcript: &Path) -> bool {
    let earlier = earlier(guard);
    match (earlier.is_file(), transcript.is_file()) {
        (true, false) => true,
        (true, true) => !begin_alike(&earlier, transcript),
        (false, true) => guard.is_file() && !begin_alike(guard, transcript),
        (false, false) => false,
    }
}

/// Writes the guarded content in front of the transcript's current content. Each part of the content
/// is on disk at any time, and an interrupted call can be repeated.
pub(crate) fn rejoin(guard: &Path, transcript: &Path) -> Result<()> {
    let failed = |error: io::Error| cannot("restore", transcript, &error);
    if lacks_beginning(guard, transcript) {
        let earlier = earlier(guard);
        let guarded = [earlier.as_path(), guard].into_iter().filter(|path| path.is_file());
        let mut parts: Vec<&Path> = guarded.filter(|path| !begin_alike(path, transcript)).collect();
        parts.extend(Some(transcript).filter(|path| path.is_file()));
        failpoint::hit("transcript.rejoin.before");
        join(&parts, transcript).map_err(failed)?;
        failpoint::hit("transcript.rejoin.after");
    }
    link(transcript, guard).map_err(failed)?;
    match fs::remove_file(earlier(guard)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(()),
    }
}

/// Keeps the guarded content under another name, behind the content that was set aside before.
fn set_aside(guard: &Path) -> io::Result<()> {
    let earlier = earlier(guard);
    if earlier.is_file() && !begin_alike(&earlier, guard) {
        return join(&[&earlier, guard], &earlier);
    }
    link(guard, &earlier)
}

/// At most this many bytes of two files are compared. That is enough, because every line of a
/// transcript has its own id or timestamp.
const COMPARED_BYTES: u64 = 4096;

/// Returns whether two files begin with the same bytes, up to the length of the shorter file.
/// Returns `false` if a file is empty or cannot be read.
fn begin_alike(one: &Path, other: &Path) -> bool {
    let beginning = |path: &Path| {
        let mut bytes = Vec::new();
        let file = fs::File::open(path).ok()?;
        file.take(COMPARED_BYTES).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    };
    let (Some(one), Some(other)) = (beginning(one), beginning(other)) else { return false };
    let length = one.len().min(other.len());
    length > 0 && one[..length] == other[..length]
}

/// Replaces the file `name` with the lines of these files, one file after the other.
fn join(parts: &[&Path], name: &Path) -> io::Result<()> {
    let temporary = temporary_name(name);
    let written = write_joined(parts, &temporary).and_then(|()| fs::rename(&temporary, name));
    if written.is_err() {
        let _tidied = fs::remove_file(&temporary);
    }
    written?;
    name.parent().map_or(Ok(()), sync_folder)
}

fn write_joined(parts: &[&Path], name: &Path) -> io::Result<()> {
    let mut whole = OpenOptions::new().write(true).create_new(true).mode(0o600).open(name)?;
    for part in parts {
        let mut file = fs::File::open(part)?;
        io::copy(&mut file, &mut whole)?;
        if has_incomplete_line(&mut file)? {
            whole.write_all(b"\n")?;
        }
    }
    whole.sync_all()
}

/// Returns the real path and the metadata of a regular file. `None` if there is no file.
fn regular(path: &Path) -> io::Result<Option<(PathBuf, Metadata)>> {
    // A hard link to a symlink would guard only the symlink.
    let real = match fs::canonicalize(path) {
        Err(error) if is_absence(&error) => return Ok(None),
        real => real?,
    };
    match fs::symlink_metadata(&real) {
        Ok(metadata) if metadata.is_file() => Ok(Some((real, metadata))),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Hard-links a file to another name. Replaces an existing file of that name atomically.
fn link(file: &Path, name: &Path) -> io::Result<()> {
    let temporary = temporary_name(name);
    fs::hard_link(file, &temporary)?;
    let renamed = fs::rename(&temporary, name);
    // A rename between two links of one file does nothing and leaves the temporary name.
    let _gone_already = fs::remove_file(&temporary);
    renamed?;
    name.parent().map_or(Ok(()), sync_folder)
}

/// Creates the folder of a guard and its parent, which contains all guards of the launch.
fn make_folder_of(guard: &Path) -> io::Result<()> {
    let folders: Vec<&Path> = guard.ancestors().skip(1).take(2).collect();
    folders.into_iter().rev().try_for_each(make_folder)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => folder.parent().map_or(Ok(()), sync_folder),
    }
}

/// Returns the path of the content that was guarded before the vendor started a new file.
fn earlier(guard: &Path) -> PathBuf {
    let mut name = guard.as_os_str().to_owned();
    name.push(".earlier");
    PathBuf::from(name)
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Returns whether an error means that the filesystems do not support this hard link.
fn is_unsupported(error: &io::Error) -> bool {
    let codes = [Errno::XDEV, Errno::PERM, Errno::OPNOTSUPP, Errno::NOSYS, Errno::MLINK];
    codes.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn other_file(guard: &Path, transcript: &Path) -> Error {
    let (guard, path) = (quoted(guard), quoted(transcript));
    Error::conflict(format!("`{}` is another file than the guarded one", transcript.display()))
        .hint(format!("run `diff {guard} {path}` to compare them"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use segue_core::Kind;
    use tempfile::TempDir;

    use super::*;

    fn places() -> (TempDir, PathBuf, PathBuf) {
        let temp = TempDir::new().unwrap();
        let transcript = temp.path().join("conversation.jsonl");
        let guard = temp.path().join("guard/folder/conversation.jsonl");
        (temp, transcript, guard)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn rejoin_restores_the_beginning_of_a_restarted_transcript() {
        let (_temp, transcript, guard) = places();
        fs::write(&transcript, "one\ntwo\nthr").unwrap();
        keep(&transcript, &guard).unwrap();
        fs::remove_file(&transcript).unwrap();
        assert!(!lacks_beginning(&guard, &transcript), "there is no transcript");
        for (added, whole) in
            [("four\n", "one\ntwo\nthr\nfour\n"), ("5\n", "one\ntwo\nthr\nfour\n5\n")]
        {
            // The vendor starts a new file: first with a call of `keep` afterwards, then without
            // one.
            let _first = fs::remove_file(&transcript);
            fs::write(&transcript, added).unwrap();
            assert!(lacks_beginning(&guard, &transcript));
            if added == "four\n" {
                keep(&transcript, &guard).unwrap();
                assert!(lacks_beginning(&guard, &transcript), "the old content was not set aside");
            }
            for _twice in 0..2 {
                rejoin(&guard, &transcript).unwrap();
                assert_eq!(fs::read_to_string(&transcript).unwrap(), whole);
            }
            assert!(!lacks_beginning(&guard, &transcript));
            assert_eq!(keep(&transcript, &guard).unwrap(), Guarded::Already);
            assert_eq!(names(guard.parent().unwrap()), ["conversation.jsonl"]);
        }
    }

    #[test]
    fn rejoin_restores_a_transcript_that_was_restarted_twice() {
        let (_temp, transcript, guard) = places();
        for text in ["one\ntwo\nthree\n", "fourth\n", "five\n"] {
            let _first = fs::remove_file(&transcript);
            fs::write(&transcript, text).unwrap();
            keep(&transcript, &guard).unwrap();
        }
        fs::remove_file(&transcript).unwrap();
        rejoin(&guard, &transcript).unwrap();
        let whole = fs::read_to_string(&transcript).unwrap();
        assert_eq!(whole, "one\ntwo\nthree\nfourth\nfive\n");
    }

    #[test]
    fn guard_follows_every_append_and_a_replaced_file() {
        let (_temp, transcript, guard) = places();
        fs::write(&transcript, "one\n").unwrap();
        assert_eq!(keep(&transcript, &guard).unwrap(), Guarded::Linked);
        fs::write(&transcript, "one\ntwo\n").unwrap();
        assert_eq!(keep(&transcript, &guard).unwrap(), Guarded::Already);
        assert_eq!(fs::read(&guard).unwrap(), b"one\ntwo\n");
        fs::write(transcript.with_extension("new"), "one\ntwo\nthree\n").unwrap();
        fs::rename(transcript.with_extension("new"), &transcript).unwrap();
        assert_eq!(keep(&transcript, &guard).unwrap(), Guarded::Linked);
        assert_eq!(fs::read(&guard).unwrap(), b"one\ntwo\nthree\n");
        assert_eq!(names(guard.parent().unwrap()), ["conversation.jsonl"]);
    }

    #[test]
    fn keep_sets_the_old_content_aside_if_the_file_was_started_over() {
        let (_temp, transcript, guard) = places();
        fs::write(&transcript, "a long conversation\n").unwrap();
        keep(&transcript, &guard).unwrap();
        fs::remove_file(&transcript).unwrap();
        fs::write(&transcript, "new\n").unwrap();
        assert_eq!(keep(&transcript, &guard).unwrap(), Guarded::Linked);
        assert_eq!(fs::read(&guard).unwrap(), b"new\n");
        assert_eq!(fs::read(earlier(&guard)).unwrap(), b"a long conversation\n");
    }

    #[test]
    fn keep_guards_the_file_behind_a_symlink() {
        let (temp, transcript, guard) = places();
        symlink(temp.path().join("real"), &transcript).unwrap();
        assert_eq!(keep(&transcript, &guard).unwrap(), Guarded::NoTranscript);
        fs::write(temp.path().join("real"), "words").unwrap();
        assert_eq!(keep(&transcript, &guard).unwrap(), Guarded::Linked);
        fs::remove_file(temp.path().join("real")).unwrap();
        assert_eq!(fs::read(&guard).unwrap(), b"words");
    }

    #[test]
    fn keep_reports_another_filesystem_without_an_error() {
        let (_temp, _, guard) = places();
        let Ok(elsewhere) = TempDir::new_in("/dev/shm") else { return };
        let transcript = elsewhere.path().join("conversation.jsonl");
        fs::write(&transcript, "x").unwrap();
        assert_eq!(keep(&transcript, &guard).unwrap(), Guarded::OtherFilesystem);
        assert_eq!(names(guard.parent().unwrap()), Vec::<String>::new());
    }

    #[test]
    fn restore_never_overwrites_and_can_be_repeated() {
        let (_temp, transcript, guard) = places();
        fs::write(&transcript, "first").unwrap();
        keep(&transcript, &guard).unwrap();
        restore(&guard, &transcript).unwrap();
        fs::remove_file(&transcript).unwrap();
        fs::write(&transcript, "second").unwrap();
        assert_eq!(restore(&guard, &transcript).unwrap_err().kind, Kind::Conflict);
        assert_eq!(fs::read(&transcript).unwrap(), b"second");
        fs::remove_file(&transcript).unwrap();
        restore(&guard, &transcript).unwrap();
        restore(&guard, &transcript).unwrap();
        assert_eq!(fs::read(&transcript).unwrap(), b"first");
    }

    #[test]
    fn restore_without_a_guard_creates_nothing() {
        let (temp, _, guard) = places();
        let transcript = temp.path().join("gone/conversation.jsonl");
        assert_eq!(restore(&guard, &transcript).unwrap_err().kind, Kind::NotFound);
        assert!(!temp.path().join("gone").exists());
    }

    #[test]
    fn keep_refuses_a_folder() {
        let (temp, _, guard) = places();
        assert!(keep(temp.path(), &guard).is_err());
    }
}
