//! The format of a copy on disk: a sequence of compressed frames. Each addition to the copy is one
//! frame.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use segue_core::failpoint;

use super::manifest::StoredStream;
use super::names::fingerprint;
use crate::atomic::sync_folder;
use crate::files::open_regular;

/// This many bytes at the end of a copy are compared with the file. That is enough, because every
/// line of a transcript has its own id or timestamp.
const COMPARED_BYTES: u64 = 4096;

/// The compression level. A higher level costs much time and saves little space.
const COMPRESSION_LEVEL: i32 = 3;

/// Appends the bytes of a file that its copy does not have yet, up to the offset `length`, as one
/// frame. Updates `stream`, but does not write the record.
pub(super) fn append(
    source: &mut File,
    length: u64,
    folder: &Path,
    stream: &mut StoredStream,
) -> io::Result<()> {
    source.seek(SeekFrom::Start(stream.length))?;
    let new = source.take(length - stream.length);
    let added = write_frame(new, folder, stream)?;
    stream.length += added;
    stream.end = end_of(source, stream.length)?;
    Ok(())
}

/// Compresses all bytes of a reader into one frame. Returns how many bytes were read.
pub(super) fn write_frame(
    mut new: impl io::Read,
    folder: &Path,
    stream: &mut StoredStream,
) -> io::Result<u64> {
    let path = folder.join(&stream.file);
    let is_new = stream.stored == 0;
    failpoint::hit("archive.frame.before");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    // Remove bytes behind the recorded length. A killed process has left them.
    file.set_len(stream.stored)?;
    file.seek(SeekFrom::Start(stream.stored))?;
    let mut encoder = zstd::Encoder::new(&mut file, COMPRESSION_LEVEL)?;
    encoder.include_checksum(true)?;
    let added = io::copy(&mut new, &mut encoder)?;
    failpoint::hit("archive.frame.torn");
    encoder.finish()?;
    file.sync_all()?;
    if is_new {
        sync_folder(folder)?;
    }
    failpoint::hit("archive.frame.written");
    stream.stored = file.metadata()?.len();
    Ok(added)
}

/// Returns whether a file continues a copy: the copy is complete, and the file still has the same
/// bytes where the copy ends.
pub(super) fn continues(source: &File, length: u64, folder: &Path, stream: &StoredStream) -> bool {
    stream.length <= length
        && is_complete(folder, stream)
        && end_of(source, stream.length).is_ok_and(|end| end == stream.end)
}

/// Returns whether a copy has all bytes that its record lists.
pub(super) fn is_complete(folder: &Path, stream: &StoredStream) -> bool {
    fs::metadata(folder.join(&stream.file)).is_ok_and(|metadata| metadata.len() >= stream.stored)
}

/// Returns the fingerprint of the bytes of a file right before the offset `length`.
fn end_of(source: &File, length: u64) -> io::Result<u64> {
    let from = length.saturating_sub(COMPARED_BYTES);
    let mut bytes = vec![0; usize::try_from(length - from).unwrap_or_default()];
    source.read_exact_at(&mut bytes, from)?;
    Ok(fingerprint(&bytes))
}

/// Restores a copied file under the name `target`. Returns `false` if that name exists already. The
/// file is either complete or missing, and on disk when this returns. `mark` distinguishes the
/// temporary files of two conversations that restore the same file at the same time.
pub(super) fn put_back(
    folder: &Path,
    stream: &StoredStream,
    target: &Path,
    mark: u64,
) -> io::Result<bool> {
    if fs::symlink_metadata(target).is_ok() {
        return Ok(false);
    }
    let parent = target.parent().ok_or(io::ErrorKind::InvalidInput)?;
    failpoint::hit("archive.restore.before");
    DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    let number = fingerprint(target.as_os_str().as_encoded_bytes());
    // The temporary name is always the same, so that the file of a killed process is overwritten.
    let temporary = parent.join(format!(".segue-{mark:016x}-{number:016x}.tmp"));
    let named = write_out(folder, stream, &temporary).and_then(|()| {
        failpoint::hit("archive.restore.written");
        rename_new(&temporary, target)
    });
    let _gone = fs::remove_file(&temporary);
    let is_new = named?;
    sync_folder(parent)?;
    failpoint::hit("archive.restore.after");
    Ok(is_new)
}

/// Gives a temporary file its final name. Returns `false` if that name exists already.
fn rename_new(temporary: &Path, target: &Path) -> io::Result<bool> {
    let named = match fs::hard_link(temporary, target) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // Some filesystems have no hard links.
            renameat_with(CWD, temporary, CWD, target, RenameFlags::NOREPLACE).map_err(Into::into)
        }
        linked => linked,
    };
    match named {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Verifies the checksums and the length of a copy.
pub(super) fn verify(folder: &Path, stream: &StoredStream) -> io::Result<()> {
    decompress(folder, stream, &mut io::sink())
}

/// Decompresses a copy. Verifies its checksums and its length.
fn decompress(folder: &Path, stream: &StoredStream, target: &mut impl Write) -> io::Result<()> {
    let read = io::copy(&mut decoder(folder, stream)?, target)?;
    if read == stream.length {
        return Ok(());
    }
    let why = format!("{read} bytes of {} are left", stream.length);
    Err(io::Error::new(io::ErrorKind::InvalidData, why))
}

/// Opens a copy for reading. The reader returns at most one byte more than recorded, to detect a
/// copy that is too long.
fn decoder(folder: &Path, stream: &StoredStream) -> io::Result<impl Read> {
    let copy = open_regular(&folder.join(&stream.file))?.take(stream.stored);
    Ok(zstd::Decoder::new(copy)?.take(stream.length.saturating_add(1)))
}

/// Decompresses a copy into a file. Verifies its checksums and its length.
pub(super) fn write_out(folder: &Path, stream: &StoredStream, target: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(target)?;
    decompress(folder, stream, &mut file)?;
    file.sync_all()
}
