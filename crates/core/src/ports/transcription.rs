//! Writing a conversation in a vendor's own format.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{Files, NewFile, Place};
use crate::model::{Turn, VendorSessionId};

/// A request to convert a conversation into a vendor's own format.
#[derive(Clone, Copy, Debug)]
pub struct TranscriptionOrder<'a> {
    pub files: &'a dyn Files,
    pub place: &'a Place,
    /// The id that the conversation has or will have.
    pub id: &'a VendorSessionId,
    /// The title of the conversation for users.
    pub title: &'a str,
    /// The model that continues the conversation. `None` if no model was requested.
    pub model: Option<&'a str>,
    /// The timestamp for turns that have none.
    pub now: Timestamp,
    /// The transcript to which the turns are appended. `None` to create a new one.
    pub append_to: Option<&'a Path>,
}

/// How a conversation is converted into a vendor's own format.
#[derive(Debug)]
pub struct Transcription {
    pub target: Target,
    /// Additional files that the vendor needs beside the transcript.
    pub extra_files: Vec<NewFile>,
    pub writer: Box<dyn TurnWriter>,
}

/// Where the converted conversation is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Directly into the transcript.
    Transcript(PathBuf),
    /// Into a document that the vendor's program imports right before the launch that continues the
    /// conversation.
    Import,
}

/// Writes turns in a vendor's own format. The turns are clean: every tool call is followed by its
/// result, tool ids consist of letters, digits, `-` and `_`, and every turn has a timestamp.
pub trait TurnWriter: Debug + Send {
    /// Writes everything that comes before the first turn.
    fn begin(&mut self, out: &mut Vec<u8>);

    fn turn(&mut self, turn: &Turn, out: &mut Vec<u8>);

    /// Writes everything that comes after the last turn.
    fn end(&mut self, out: &mut Vec<u8>);
}
