//! Copies the files of a conversation, and deletes superseded copies.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::manifest::{FileRole, Manifest, StoredStream};
use super::names::fingerprint;
use super::sources::{SourceFile, below};
use super::{DOCUMENT, frames};
use crate::files::open_regular;

pub(super) fn has_content(source: &SourceFile) -> bool {
    source.role == FileRole::Transcript && fs::metadata(&source.path).is_ok_and(|it| it.len() > 0)
}

/// Copies the part of a file that its copy does not have yet. Returns the number of bytes added. A
/// missing file adds none.
pub(super) fn keep_file(
    source: &SourceFile,
    (folder, config_dir): (&Path, &Path),
    manifest: &mut Manifest,
) -> io::Result<u64> {
    let mut file = match open_regular(&source.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        file => file?,
    };
    let metadata = file.metadata()?;
    let (length, changed) = (metadata.len(), modified(&metadata)?);
    let is_same = |it: &StoredStream| it.length == length && it.modified == Some(changed);
    let newest = manifest.versions(&source.role).next();
    if length == 0 || newest.is_some_and(|(_, newest)| is_same(newest)) {
        return Ok(0);
    }
    let place = continued(&file, length, folder, manifest, &source.role);
    let path = below(config_dir, &source.path);
    let known = place.map(|place| manifest.streams[place].clone());
    let mut stream = known.unwrap_or_else(|| StoredStream::new(source.role.clone(), path.clone()));
    let before = stream.length;
    if before < length {
        frames::append(&mut file, length, folder, &mut stream)?;
        (stream.modified, stream.path) = (Some(changed), path);
    }
    // The copy that the file continues becomes the newest copy.
    if let Some(place) = place {
        manifest.streams.remove(place);
    }
    let added = stream.length - before;
    manifest.streams.push(stream);
    Ok(added)
}

/// Returns the index of the copy that a file continues. If several match, the longest.
fn continued(
    file: &File,
    length: u64,
    folder: &Path,
    manifest: &Manifest,
    role: &FileRole,
) -> Option<usize> {
    let continues =
        |(_, stream): &(usize, &StoredStream)| frames::continues(file, length, folder, stream);
    let longest = manifest.versions(role).filter(continues).max_by_key(|(_, it)| it.length);
    longest.map(|(place, _)| place)
}

/// Copies an exported document, unless it equals the last copied document.
pub(super) fn keep_document(
    document: &[u8],
    folder: &Path,
    manifest: &mut Manifest,
) -> io::Result<u64> {
    let (length, end) = (document.len() as u64, fingerprint(document));
    let newest = manifest.versions(&FileRole::Export).next();
    if newest.is_some_and(|(_, it)| (it.length, it.end) == (length, end)) {
        return Ok(0);
    }
    let mut stream = StoredStream::new(FileRole::Export, PathBuf::from(DOCUMENT));
    stream.length = frames::write_frame(document, folder, &mut stream)?;
    stream.end = end;
    manifest.streams.push(stream);
    Ok(length)
}

/// Deletes copies that the record does not list. A copy that cannot be deleted only uses space.
pub(super) fn tidy(folder: &Path, before: &Manifest, now: &Manifest, superseded: &[StoredStream]) {
    if before.streams.len() == now.streams.len() && superseded.is_empty() {
        return;
    }
    let listed = |path: &Path| now.streams.iter().any(|it| path.ends_with(&it.file));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|it| it == "zst") && !listed(&path) {
            let _stays = fs::remove_file(path);
        }
    }
}

pub(super) fn modified(metadata: &fs::Metadata) -> io::Result<Timestamp> {
    Timestamp::try_from(metadata.modified()?).map_err(io::Error::other)
}
