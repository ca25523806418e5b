//! Segue's own copies of conversations. They are used if a transcript and its guard are missing.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::Place;
use crate::error::Result;
use crate::model::{Archived, CopiedConversation};

/// Append-only copies of conversations. Every write is on disk when its method returns. An
/// interrupted write has no effect.
pub trait Archive: Debug + Send + Sync {
    /// Copies the new part of a conversation and returns the number of bytes copied. The cost is
    /// proportional to the new part. A file that is not a continuation of its copy is copied in
    /// full, next to the old copy.
    fn copy(&self, order: &ArchiveOrder) -> Result<u64>;

    /// Returns whether the archive has a copy of the conversation that can be restored.
    fn has(&self, conversation: &Archived) -> bool;

    /// Returns whether the transcript was never copied, or was changed after it was copied.
    fn is_outdated(&self, conversation: &Archived, transcript: &Path) -> bool;

    /// Returns the paths of the transcripts that were copied too because the conversation cannot be
    /// read without them.
    fn ancestors(&self, conversation: &Archived) -> Vec<PathBuf>;

    /// Restores the requested files byte for byte from the newest copy. Fails if the transcript
    /// exists already. Other files that exist are left unchanged.
    fn restore(&self, order: &RestoreOrder) -> Result<()>;

    /// Writes the copies into a folder with the vendor's layout. Returns the path of the transcript
    /// or of the exported document in that folder.
    fn extract(&self, conversation: &Archived, folder: &Path) -> Result<PathBuf>;

    /// Deletes every copy of the conversation. Succeeds if there is no copy.
    fn remove(&self, conversation: &Archived) -> Result<()>;

    /// Lists the conversations that have a copy.
    fn copies(&self) -> Result<Vec<CopiedConversation>>;

    /// Returns the damaged copies. Reads all copies, a part at a time. If the record of a copy cannot
    /// be read, the name of its folder identifies one of the `known` conversations.
    fn damaged(&self, known: &[Archived]) -> Result<Vec<DamagedCopy>>;

    /// Moves the damaged copies of a conversation to another folder and returns its path.
    fn set_aside(&self, copy: &DamagedCopy) -> Result<PathBuf>;

    /// Returns the number of bytes that all copies use. The first call reads the disk; later calls
    /// are cheap.
    fn size(&self) -> Result<u64>;
}

/// A request to copy a conversation: the files that belong to it now.
#[derive(Clone, Debug)]
pub struct ArchiveOrder {
    pub conversation: Archived,
    pub place: Place,
    pub content: Content,
    /// The folder with files that accompany the transcript.
    pub companion_folder: Option<PathBuf>,
    /// The other transcripts without which this transcript cannot be used.
    pub ancestors: Vec<PathBuf>,
    pub now: Timestamp,
}

/// The content of a conversation.
#[derive(Clone, Debug)]
pub enum Content {
    /// A transcript file that contains only this conversation.
    Transcript(PathBuf),
    /// A document that the vendor's program can import.
    Export(Vec<u8>),
}

/// A request to restore files: which ones and where.
#[derive(Clone, Debug)]
pub struct RestoreOrder {
    pub conversation: Archived,
    /// `None` if the transcript exists and only its ancestors are missing.
    pub transcript: Option<PathBuf>,
    pub companion_folder: Option<PathBuf>,
    /// The folder below which the ancestors are restored.
    pub config_dir: PathBuf,
}

/// A damaged copy of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedCopy {
    /// `None` if the conversation cannot be determined.
    pub conversation: Option<Archived>,
    pub folder: PathBuf,
    pub why: String,
}
