//! Files with secrets of the user. Only the user may read and write them.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::process::geteuid;

use crate::failure::quoted;
use crate::files::open_regular;

/// The permission bits of group and others.
const OTHERS: u32 = 0o077;

/// Why a file cannot be used. Contains nothing of the file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnusableFile {
    pub(crate) why: String,
    pub(crate) hint: Option<String>,
}

impl UnusableFile {
    fn because(why: &dyn fmt::Display) -> Self {
        Self { why: why.to_string(), hint: None }
    }
}

/// Opens a regular file that belongs to this user and that no other user may read or write.
pub(crate) fn open(path: &Path) -> Result<File, UnusableFile> {
    let file = open_regular(path).map_err(|error| UnusableFile::because(&error))?;
    let metadata = file.metadata().map_err(|error| UnusableFile::because(&error))?;
    if metadata.uid() != geteuid().as_raw() {
        let hint = Some("use a file that belongs to you".to_owned());
        return Err(UnusableFile { why: "it belongs to another user".to_owned(), hint });
    }
    if metadata.mode() & OTHERS != 0 {
        let mode = metadata.mode() & 0o777;
        let why = format!("others may read or write it (mode {mode:04o})");
        return Err(UnusableFile { why, hint: Some(format!("run `chmod 600 {}`", quoted(path))) });
    }
    Ok(file)
}

/// Reads such a file as text.
pub(crate) fn read(path: &Path, max_bytes: u64) -> Result<String, UnusableFile> {
    let mut text = String::new();
    // The error for a file that is not UTF-8 contains no part of the file.
    let read = open(path)?.take(max_bytes + 1).read_to_string(&mut text);
    read.map_err(|error| UnusableFile::because(&error))?;
    if text.len() as u64 > max_bytes {
        return Err(UnusableFile::because(&format!("it has more than {max_bytes} bytes")));
    }
    Ok(text)
}
