//! Our own copies of conversations: the second line of defence, behind the guard.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::Place;
use crate::error::Result;
use crate::model::{VendorId, VendorSessionId};

/// Copies of conversations that only grow. Every write is on disk when it returns, and what is cut
/// short in the middle is as if it had not been begun.
pub trait Archive: Debug + Send + Sync {
    /// Copies what is new in a conversation; returns how many bytes that were. It costs as much as
    /// there is new. What does not go on from its copy is copied as a whole, beside the old copy.
    fn keep(&self, order: &ArchiveOrder) -> Result<u64>;

    /// Tells whether there is a copy of the conversation.
    fn has(&self, conversation: &Archived) -> bool;

    /// Tells whether the transcript was changed since it was copied, or never was.
    fn lacks(&self, conversation: &Archived, transcript: &Path) -> bool;

    /// Returns the names of the transcripts that were copied along because the conversation cannot
    /// be read without them.
    fn ancestors(&self, conversation: &Archived) -> Vec<PathBuf>;

    /// Puts back what is asked for, byte for byte, as it was copied last. A transcript that is there
    /// is an error; what else is there is left as it is.
    fn restore(&self, order: &RestoreOrder) -> Result<()>;

    /// Writes the copies into a folder as if it were the vendor's; returns where the transcript, or
    /// the exported document, is there.
    fn read_out(&self, conversation: &Archived, folder: &Path) -> Result<PathBuf>;

    /// Deletes every copy of the conversation; none is no error.
    fn remove(&self, conversation: &Archived) -> Result<()>;

    /// Lists what there are copies of.
    fn holdings(&self) -> Result<Vec<Holding>>;

    /// Returns the copies that could not be put back as they were copied. It reads all of them, a part
    /// at a time. A record that cannot be read is matched with the conversations that are `known`.
    fn damaged(&self, known: &[Archived]) -> Result<Vec<DamagedCopy>>;

    /// Moves the damaged copies of a conversation out of the way; returns where they are then.
    fn set_aside(&self, copy: &DamagedCopy) -> Result<PathBuf>;

    /// Returns how many bytes all copies take up. It costs nothing but the first time.
    fn size(&self) -> Result<u64>;
}

/// A conversation as copies are filed: by its vendor's own id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Archived {
    pub vendor: VendorId,
    pub id: VendorSessionId,
}

/// What belongs to a conversation now.
#[derive(Clone, Debug)]
pub struct ArchiveOrder {
    pub conversation: Archived,
    pub place: Place,
    pub content: Content,
    /// The folder of files that belong to the transcript.
    pub belongings: Option<PathBuf>,
    /// The other transcripts without which this one is worth nothing.
    pub ancestors: Vec<PathBuf>,
    pub now: Timestamp,
}

/// What was said.
#[derive(Clone, Debug)]
pub enum Content {
    /// In a file of its own.
    Transcript(PathBuf),
    /// In a document that the vendor's program takes in again.
    Export(Vec<u8>),
}

/// What is to be put back, and where.
#[derive(Clone, Debug)]
pub struct RestoreOrder {
    pub conversation: Archived,
    /// None where the transcript is there, and only its ancestors are not.
    pub transcript: Option<PathBuf>,
    pub belongings: Option<PathBuf>,
    /// Below it are the ancestors.
    pub config_dir: PathBuf,
}

/// A conversation of which a copy is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedCopy {
    /// `None` if nothing says whose it is.
    pub conversation: Option<Archived>,
    pub folder: PathBuf,
    pub why: String,
}

/// A conversation of which there is a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    pub conversation: Archived,
    pub bytes: u64,
    /// When something was added last.
    pub kept_at: Timestamp,
}
