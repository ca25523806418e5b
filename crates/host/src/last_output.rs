//! The last output of an agent, in a file of its launch folder.
//!
//! It only explains the end of the launch, and is not part of the end's record. It may be missing.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use segue_core::model::Environment;
use segue_core::ports::Files as _;
use segue_core::rules::last_output::excerpt;
use segue_core::rules::redaction::{KnownSecrets, Redactor};

use crate::files::{LocalFiles, open_regular};

/// The name of the file.
const FILE: &str = "last_output.txt";
/// At most this many bytes at the end of an output are examined.
pub(crate) const EXAMINED_BYTES: usize = 16 << 10;

/// Returns the last output of a launch's agent. `None` if no useful output was recorded.
pub fn read(launch_folder: &Path) -> Option<String> {
    let mut text = Vec::new();
    let file = open_regular(&launch_folder.join(FILE)).ok()?;
    file.take(EXAMINED_BYTES as u64).read_to_end(&mut text).ok()?;
    // The agent can also write this file. So its content is filtered again.
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

/// Returns the last [`EXAMINED_BYTES`] bytes of a file as text.
pub(crate) fn end_of(path: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&LocalFiles.tail(path, EXAMINED_BYTES)?).into_owned())
}
