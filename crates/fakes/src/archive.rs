//! The archive in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use jiff::Timestamp;
use segue_core::model::{Archived, CopiedConversation};
use segue_core::ports::{Archive, ArchiveOrder, Content, DamagedCopy, RestoreOrder};
use segue_core::{Error, Result};

use crate::{Calls, Disk};

/// Copies of conversations. Transcripts are read from and restored to a [`Disk`].
#[derive(Debug)]
pub struct FakeArchive {
    calls: Calls,
    disk: Disk,
    state: Mutex<FakeArchiveState>,
}

#[derive(Debug, Default)]
struct FakeArchiveState {
    copies: HashMap<Archived, ArchiveCopy>,
    damaged: Vec<DamagedCopy>,
}

#[derive(Clone, Debug)]
struct ArchiveCopy {
    bytes: Vec<u8>,
    ancestors: Vec<(PathBuf, Vec<u8>)>,
    copied_at: Timestamp,
}

impl FakeArchive {
    pub(crate) fn new(calls: Calls, disk: Disk) -> Self {
        Self { calls, disk, state: Mutex::default() }
    }

    /// Returns the content of the copy of a conversation.
    pub fn bytes_of(&self, conversation: &Archived) -> Option<Vec<u8>> {
        self.state.lock().unwrap().copies.get(conversation).map(|it| it.bytes.clone())
    }

    /// Damages a copy.
    pub fn damage(&self, conversation: &Archived) {
        let copy = DamagedCopy {
            conversation: Some(conversation.clone()),
            folder: Path::new("/data/archive").join(conversation.id.as_str()),
            why: "its checksum is wrong".to_owned(),
        };
        self.state.lock().unwrap().damaged.push(copy);
    }

    fn found(&self, conversation: &Archived) -> Result<ArchiveCopy> {
        let found = self.state.lock().unwrap().copies.get(conversation).cloned();
        found.ok_or_else(|| Error::not_found("there is no copy of this conversation"))
    }
}

impl Archive for FakeArchive {
    fn copy(&self, order: &ArchiveOrder) -> Result<u64> {
        self.calls.enter("archive.copy")?;
        let bytes = match &order.content {
            Content::Transcript(path) => self.disk.read(path).unwrap_or_default(),
            Content::Export(document) => document.clone(),
        };
        let read = |path: &PathBuf| Some((path.clone(), self.disk.read(path)?));
        let ancestors = order.ancestors.iter().filter_map(read).collect();
        let known = self.bytes_of(&order.conversation).map_or(0, |copy| copy.len());
        let added = bytes.len().saturating_sub(known) as u64;
        let copy = ArchiveCopy { bytes, ancestors, copied_at: order.now };
        self.state.lock().unwrap().copies.insert(order.conversation.clone(), copy);
        Ok(added)
    }

    fn has(&self, conversation: &Archived) -> bool {
        self.bytes_of(conversation).is_some()
    }

    fn is_outdated(&self, conversation: &Archived, transcript: &Path) -> bool {
        self.disk.read(transcript).is_some_and(|now| self.bytes_of(conversation) != Some(now))
    }

    fn ancestors(&self, conversation: &Archived) -> Vec<PathBuf> {
        let copy = self.found(conversation).ok();
        copy.map(|it| it.ancestors.into_iter().map(|(path, _)| path).collect()).unwrap_or_default()
    }

    fn restore(&self, order: &RestoreOrder) -> Result<()> {
        self.calls.enter("archive.restore")?;
        let copy = self.found(&order.conversation)?;
        if let Some(transcript) = &order.transcript {
            if self.disk.read(transcript).is_some() {
                return Err(Error::conflict(format!("`{}` exists", transcript.display())));
            }
            self.disk.write(transcript, copy.bytes);
        }
        for (path, bytes) in copy.ancestors {
            if self.disk.read(&path).is_none() {
                self.disk.write(path, bytes);
            }
        }
        Ok(())
    }

    fn extract(&self, conversation: &Archived, folder: &Path) -> Result<PathBuf> {
        self.calls.enter("archive.extract")?;
        let path = folder.join(conversation.id.as_str());
        self.disk.write(&path, self.found(conversation)?.bytes);
        Ok(path)
    }

    fn remove(&self, conversation: &Archived) -> Result<()> {
        self.calls.enter("archive.remove")?;
        self.state.lock().unwrap().copies.remove(conversation);
        Ok(())
    }

    fn copies(&self) -> Result<Vec<CopiedConversation>> {
        self.calls.enter("archive.copies")?;
        let state = self.state.lock().unwrap();
        let conversation = |(conversation, copy): (&Archived, &ArchiveCopy)| CopiedConversation {
            conversation: conversation.clone(),
            bytes: copy.bytes.len() as u64,
            copied_at: copy.copied_at,
        };
        let mut copies: Vec<CopiedConversation> = state.copies.iter().map(conversation).collect();
        copies.sort_by(|a, b| a.conversation.id.cmp(&b.conversation.id));
        Ok(copies)
    }

    fn damaged(&self, _known: &[Archived]) -> Result<Vec<DamagedCopy>> {
        self.calls.enter("archive.damaged")?;
        Ok(self.state.lock().unwrap().damaged.clone())
    }

    fn set_aside(&self, copy: &DamagedCopy) -> Result<PathBuf> {
        self.calls.enter("archive.set_aside")?;
        let mut state = self.state.lock().unwrap();
        state.damaged.retain(|it| it != copy);
        if let Some(conversation) = &copy.conversation {
            state.copies.remove(conversation);
        }
        Ok(copy.folder.with_extension("damaged"))
    }

    fn size(&self) -> Result<u64> {
        self.calls.enter("archive.size")?;
        Ok(self.state.lock().unwrap().copies.values().map(|it| it.bytes.len() as u64).sum())
    }
}
