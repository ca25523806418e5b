//! Reads the beginning of a transcript. The first message is nearly always near the beginning. So
//! few bytes are read first, and more only if they do not contain the message.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::model::VendorSessionId;
use segue_core::ports::{Beginning, Conversation, FileFacts, Files, StoredConversation};

/// Searches the first lines of a file. Reads as many bytes as the first limit allows, then as many
/// as the next one, until `find` returns a value or the whole file was read. The limits are numbers
/// of bytes, the smallest first.
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

/// What the first records of a transcript show about the conversation.
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
            let mut records = Self::default();
            let mut has_record = false;
            while records.first_message.is_none()
                && let Some(line) = lines.next()
            {
                has_record |= add(&mut records, line);
            }
            let has_message = records.first_message.is_some();
            found = has_record.then_some(records);
            has_message.then_some(())
        });
        with_message.map(|_| found)
    }

    /// Returns the beginning of a conversation. `None` if it has no message of the user, or no
    /// working folder.
    pub(crate) fn into_beginning(self, kept: &StoredConversation) -> Option<Beginning> {
        let Self { cwd, began_at, first_message } = self;
        let first_message = Some(first_message?);
        Some(Beginning { cwd: cwd?, began_at: began_at.unwrap_or(kept.modified), first_message })
    }

    /// Returns the conversation of this transcript. `is_open` and `last_answer` describe the end of
    /// the transcript.
    pub(crate) fn into_conversation(
        self,
        id: &VendorSessionId,
        (path, facts): (&Path, &FileFacts),
        (is_open, last_answer): (bool, Option<String>),
    ) -> Conversation {
        Conversation {
            id: id.clone(),
            transcript: path.to_owned(),
            cwd: self.cwd.unwrap_or_default(),
            began_at: self.began_at.unwrap_or(facts.modified),
            first_message: self.first_message,
            turn_open: is_open,
            last_answer,
        }
    }
}
