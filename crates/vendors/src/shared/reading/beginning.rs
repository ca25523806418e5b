//! Reads the beginning of a transcript. The first message is nearly always near the beginning, so
//! little is read first, and more only if the message was not found.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::ports::{Beginning, Files, StoredConversation};

/// Searches the first lines of a file. Reads as many bytes as the first limit allows, then as many as
/// the next one, until `find` returns a value or the whole file was read. The limits are in bytes and
/// grow.
pub(crate) fn find_in_beginning<T>(
    files: &dyn Files,
    path: &Path,
    limits: &[usize],
    mut find: impl FnMut(&mut dyn Iterator<Item = &[u8]>) -> Option<T>,
) -> io::Result<Option<T>> {
    for limit in limits {
        let bytes = files.head(path, *limit)?;
        let found = find(&mut bytes.split(|byte| *byte == b'\n'));
        if found.is_some() || bytes.len() < *limit {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The beginning of a transcript, as far as its first lines show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FirstRecords {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) began_at: Option<Timestamp>,
    pub(crate) first_message: Option<String>,
}

impl FirstRecords {
    /// Reads records until one has the first message. `add` gets one line after the other and
    /// returns whether the line is a record. `None` if no line is a record.
    pub(crate) fn read(
        files: &dyn Files,
        path: &Path,
        limits: &[usize],
        mut add: impl FnMut(&mut Self, &[u8]) -> bool,
    ) -> io::Result<Option<Self>> {
        let mut found = None;
        let with_message = find_in_beginning(files, path, limits, |lines| {
            let mut beginning = Self::default();
            let mut has_record = false;
            while beginning.first_message.is_none()
                && let Some(line) = lines.next()
            {
                has_record |= add(&mut beginning, line);
            }
            let has_message = beginning.first_message.is_some();
            found = has_record.then_some(beginning);
            has_message.then_some(())
        });
        with_message.map(|_| found)
    }

    /// Returns the beginning of a conversation. `None` if it has no message from a person, or no
    /// working folder.
    pub(crate) fn of_conversation(self, kept: &StoredConversation) -> Option<Beginning> {
        let Self { cwd, began_at, first_message } = self;
        let first_message = Some(first_message?);
        Some(Beginning { cwd: cwd?, began_at: began_at.unwrap_or(kept.modified), first_message })
    }
}
