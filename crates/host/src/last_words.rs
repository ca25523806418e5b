//! The last output of an agent, in a file of its launch folder.
//!
//! It is not part of the end record. It is written on a best-effort basis and only explains the
//! end.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use segue_core::model::Environment;
use segue_core::rules::last_words::excerpt;
use segue_core::rules::redaction::{KnownSecrets, Redactor};

use crate::files::open_regular;

/// The name of the file.
const FILE: &str = "last_output.txt";
/// How many bytes at the end of an output are examined.
pub(crate) const LOOKED_AT_BYTES: usize = 16 << 10;

/// Returns the last output of a launch's agent. `None` if no useful output was recorded.
pub fn read(launch_folder: &Path) -> Option<String> {
    let mut text = Vec::new();
    let file = open_regular(&launch_folder.join(FILE)).ok()?;
    file.take(LOOKED_AT_BYTES as u64).read_to_end(&mut text).ok()?;
    // The agent can write this file, too. So its content is filtered again.
    excerpt(&String::from_utf8_lossy(&text))
}

/// Writes an excerpt of the end of an output, with secrets removed. Writes no file if the output
/// has no useful text.
pub(crate) fn write(
    launch_folder: &Path,
    output: &str,
    environment: &Environment,
) -> io::Result<()> {
    let mut known = KnownSecrets::default();
    known.add_environment(environment.iter());
    let Some(excerpt) = excerpt(&Redactor::new(known).redact(output)) else { return Ok(()) };
    let path = launch_folder.join(FILE);
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    file?.write_all(excerpt.as_bytes())
}

/// Returns the last [`LOOKED_AT_BYTES`] bytes of a file as text.
pub(crate) fn end_of(path: &Path) -> io::Result<String> {
    let mut file = open_regular(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT_BYTES as u64)))?;
    let mut text = Vec::new();
    file.take(LOOKED_AT_BYTES as u64).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
