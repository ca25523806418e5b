//! A vendor's own records of conversations.

use std::fmt::Debug;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::Place;
use crate::error::Result;
use crate::model::{Turn, VendorSessionId};
use crate::ports::Files;

/// Where a vendor keeps conversations, and how they are read.
pub trait Transcripts: Debug + Send + Sync {
    /// Returns how the vendor stores conversations.
    fn storage(&self) -> TranscriptStorage<'_>;

    /// Returns the path that the conversation's transcript has or would have.
    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf;

    /// Returns whether a new conversation can have this id: no transcript exists at its path.
    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        let transcript = self.transcript(files, place, id);
        !matches!(files.facts(&transcript), Ok(Some(_)))
    }

    /// Returns the current length of the transcript. Messages that are recorded later start at this
    /// offset. The unit is bytes for a file and entries for a database. `None` if there is no
    /// transcript.
    fn length(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> Option<u64> {
        let transcript = self.transcript(files, place, id);
        files.facts(&transcript).ok().flatten().map(|facts| facts.length)
    }

    /// Reads the data that decisions about one conversation need. `None` if there is no
    /// conversation.
    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>>;

    /// Lists the conversations that were started in this folder.
    fn conversations(&self, _files: &dyn Files, _place: &Place) -> Result<Vec<Conversation>> {
        Ok(Vec::new())
    }

    /// Lists all conversations that the vendor stores below a config folder, whatever their working
    /// folder. Reads only names and timestamps.
    fn list(&self, _files: &dyn Files, _config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        Ok(Vec::new())
    }

    /// Reads the beginning of a conversation. `None` if it is empty or was not started by a user.
    fn beginning(
        &self,
        _files: &dyn Files,
        _kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        Ok(None)
    }

    /// Lists the processes that report a conversation as open, with that conversation. Some vendors
    /// leave such reports behind after a crash, so a process may be gone.
    fn open_conversations(&self, _files: &dyn Files, _place: &Place) -> Result<Vec<Live>> {
        Ok(Vec::new())
    }

    /// Returns the user's messages that the transcript contains after `offset`, oldest first.
    /// `offset` is a value that `length` returned. Text that the vendor added itself is left out.
    fn user_messages_since(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>>;

    /// Reads the current conversation of a transcript from its newest turn to its oldest, until
    /// `each` returns `Break`. Skips incomplete and unknown entries and turns of abandoned
    /// branches. Keeps only a few lines of the file in memory.
    fn turns_back(
        &self,
        files: &dyn Files,
        transcript: &Path,
        each: &mut EachTurn<'_>,
    ) -> Result<()>;

    /// Returns the part of a tool's result that is the same if the tool does the same again. Ids and
    /// times that the vendor's program adds are left out.
    fn repeatable_part<'text>(&self, result: &'text str) -> &'text str {
        result
    }

    /// Reads the same turns as `turns_back`, from the oldest to the newest.
    fn turns(&self, files: &dyn Files, transcript: &Path, each: &mut EachTurn<'_>) -> Result<()>;
}

/// How a vendor stores conversations.
#[derive(Clone, Copy, Debug)]
pub enum TranscriptStorage<'a> {
    /// Each conversation has a file of its own, which can be linked, repaired and deleted.
    Files(&'a dyn TranscriptFiles),
    /// The conversations are in a database, which Segue only reads.
    Database(&'a dyn TranscriptDatabase),
}

/// The transcripts of a vendor that keeps each conversation in a file of its own.
pub trait TranscriptFiles: Transcripts {
    /// Returns how a running process writes to its transcript.
    fn write_mode(&self) -> WriteMode {
        WriteMode::Other
    }

    /// Returns the path at which a missing transcript is restored. Its guard uses this name.
    fn restored_as(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        self.transcript(files, place, id)
    }

    /// Lists transcripts of other conversations that a start in this place may delete.
    fn endangered(&self, _files: &dyn Files, _place: &Place) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the folder with files that accompany the transcript. `None` if the vendor has no
    /// such folder.
    fn companion_folder(&self, _place: &Place, _id: &VendorSessionId) -> Option<PathBuf> {
        None
    }

    /// Returns the other transcripts without which this transcript cannot be read or resumed.
    fn ancestors(&self, _files: &dyn Files, _transcript: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// How a running process writes to its transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// The process only appends. If the transcript is deleted, the process creates it again; the new
    /// file lacks the turns from before the deletion.
    Append,
    /// It is unknown how the process writes. A transcript that differs from its guard is not changed.
    Other,
}

/// The transcripts of a vendor that keeps conversations in a database.
pub trait TranscriptDatabase: Transcripts {
    /// Returns a conversation as a document that the vendor's program can import. `None` if there
    /// is no such conversation, or if the program imports none.
    fn export(&self, _place: &Place, _id: &VendorSessionId) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

/// A callback that gets one turn after the other and returns whether to continue.
pub type EachTurn<'a> = dyn FnMut(Turn) -> ControlFlow<()> + 'a;

/// The data about a conversation that decisions need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub id: VendorSessionId,
    pub transcript: PathBuf,
    pub cwd: PathBuf,
    pub began_at: Timestamp,
    /// The user's first message. `None` if the conversation is empty.
    pub first_message: Option<String>,
    /// Whether the last turn is not finished: it was interrupted, or it still runs.
    pub turn_open: bool,
    /// The agent's last answer in a finished turn.
    pub last_answer: Option<String>,
}

/// A conversation of which only the id, the path and the timestamp are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredConversation {
    pub id: VendorSessionId,
    pub transcript: PathBuf,
    pub modified: Timestamp,
}

/// The beginning of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    pub cwd: PathBuf,
    pub began_at: Timestamp,
    pub first_message: Option<String>,
}

/// A process that reports an open conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    pub pid: u32,
    /// Start time of the process in clock ticks since boot. `None` if the vendor does not record
    /// it. It shows whether another process has the PID now, because the file is left over from a
    /// crash.
    pub started: Option<u64>,
    pub id: VendorSessionId,
}
