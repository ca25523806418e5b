//! What an agent printed last, in a file of its launch folder.
//!
//! It is no part of the end record: it is written as well as it can be, and only explains.

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
/// How much of an output is looked at.
pub(crate) const LOOKED_AT_BYTES: usize = 16 << 10;

/// Returns what the agent of a launch printed last.
pub fn read(launch_folder: &Path) -> Option<String> {
    let mut text = Vec::new();
    let file = open_regular(&launch_folder.join(FILE)).ok()?;
    file.take(LOOKED_AT_BYTES as u64).read_to_end(&mut text).ok()?;
    // An agent can write the file as well: what it may contain is checked again.
    excerpt(&String::from_utf8_lossy(&text))
}

/// Writes down the end of an output, without values that must not be on disk. An output that says
/// nothing leaves no file.
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

/// Returns the end of a file, as text.
pub(crate) fn end_of(path: &Path) -> io::Result<String> {
    let mut file = open_regular(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT_BYTES as u64)))?;
    let mut text = Vec::new();
    file.take(LOOKED_AT_BYTES as u64).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
