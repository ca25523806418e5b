//! Writing a conversation down in a vendor's own form.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{Files, NewFile, Place};
use crate::model::{Turn, VendorSessionId};

/// A conversation that is to become one of a vendor's.
#[derive(Clone, Copy, Debug)]
pub struct TranscriptionOrder<'a> {
    pub files: &'a dyn Files,
    pub place: &'a Place,
    /// The id that the conversation has, or will have.
    pub id: &'a VendorSessionId,
    /// What people call it.
    pub title: &'a str,
    /// The model that goes on with it, where one was asked for.
    pub model: Option<&'a str>,
    /// The time of turns that have none.
    pub now: Timestamp,
    /// The transcript that the turns are added to; none begins one.
    pub onto: Option<&'a Path>,
}

/// How a conversation becomes one of a vendor's.
#[derive(Debug)]
pub struct Transcription {
    pub target: Target,
    /// Files that the vendor wants beside it. Without the transcript they are no conversation.
    pub beside: Vec<NewFile>,
    pub writer: Box<dyn TurnWriter>,
}

/// Where the written conversation goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// It is the transcript itself.
    Transcript(PathBuf),
    /// The vendor's program takes it in right before the launch that goes on with it.
    Import,
}

/// Writes turns in a vendor's own form. It is given clean ones: every tool call is followed by its
/// result, ids of tools have only letters, digits, `-` and `_`, and every turn has a time.
pub trait TurnWriter: Debug + Send {
    /// Writes what comes before the first turn.
    fn begin(&mut self, out: &mut Vec<u8>);

    fn turn(&mut self, turn: &Turn, out: &mut Vec<u8>);

    /// Writes what comes after the last turn.
    fn end(&mut self, out: &mut Vec<u8>);
}
