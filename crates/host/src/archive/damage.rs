//! Finds damaged copies.

use std::io;
use std::path::Path;

use super::frames;
use super::manifest::Manifest;

/// Returns a description of the damage of the copy in a folder. `None` if it is intact.
pub(super) fn find_damage(folder: &Path) -> io::Result<Option<String>> {
    let streams = match Manifest::read(folder) {
        Ok(manifest) => manifest.map(|manifest| manifest.streams).unwrap_or_default(),
        Err(error) if is_damage(&error) => return Ok(Some(error.to_string())),
        Err(error) => return Err(error),
    };
    for stream in streams {
        match frames::verify(folder, &stream) {
            Err(error) if is_damage(&error) => {
                return Ok(Some(format!("`{}`: {error}", stream.file)));
            }
            verified => verified?,
        }
    }
    Ok(None)
}

/// Returns whether the error means that a copy is damaged. Other errors mean that the copy cannot be
/// read now, for example because too many files are open or permissions are missing.
pub(super) fn is_damage(error: &io::Error) -> bool {
    error.raw_os_error().is_none() || error.kind() == io::ErrorKind::NotFound
}
