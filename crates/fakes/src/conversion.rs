//! How a fake vendor takes over conversations.

use segue_core::model::Turn;
use segue_core::ports::{
    Conversion, NewFile, Target, Transcription, TranscriptionOrder, TurnWriter,
};
use segue_core::{Error, Result};

use crate::transcript::{line_of, transcript_line};

/// Writes conversations as lines of a transcript, or as a document to import.
#[derive(Clone, Debug)]
pub struct FakeConversion {
    /// The program imports a document; Segue does not write the transcript.
    pub is_import: bool,
    /// Additional files of a new conversation.
    pub extra_files: Vec<NewFile>,
    /// How many characters the vendor takes over.
    pub room: usize,
    /// What is written of a turn. A test makes this differ from the turn.
    pub written: fn(Turn) -> Option<Turn>,
    /// The error with which the vendor refuses every conversation.
    pub refusal: Option<&'static str>,
}

impl Default for FakeConversion {
    fn default() -> Self {
        Self {
            is_import: false,
            extra_files: Vec::new(),
            room: 10_000,
            written: Some,
            refusal: None,
        }
    }
}

impl Conversion for FakeConversion {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        if let Some(refusal) = self.refusal {
            return Err(Error::vendor(refusal));
        }
        let own = order.place.config_dir.join(format!("{}.txt", order.id));
        let target = match order.append_to {
            _ if self.is_import => Target::Import,
            Some(append_to) => Target::Transcript(append_to.to_owned()),
            None => Target::Transcript(own),
        };
        let is_new = order.append_to.is_none();
        let extra_files = if is_new { self.extra_files.clone() } else { Vec::new() };
        let title = is_new.then(|| order.title.to_owned());
        let writer = FakeTurnWriter { title, written: self.written, count: 0 };
        Ok(Transcription { target, extra_files, writer: Box::new(writer) })
    }

    fn context_characters(&self) -> usize {
        self.room
    }
}

/// Writes a line with the title, a line for each turn, and a line with the number of turns.
#[derive(Debug)]
struct FakeTurnWriter {
    title: Option<String>,
    written: fn(Turn) -> Option<Turn>,
    count: usize,
}

impl TurnWriter for FakeTurnWriter {
    fn begin(&mut self, out: &mut Vec<u8>) {
        let title = self.title.as_ref().map(|title| transcript_line("title", title));
        out.extend(title.into_iter().flat_map(String::into_bytes));
    }

    fn turn(&mut self, turn: &Turn, out: &mut Vec<u8>) {
        self.count += 1;
        let line = (self.written)(turn.clone()).map(|turn| line_of(&turn));
        out.extend(line.into_iter().flat_map(String::into_bytes));
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.extend(transcript_line("end", &self.count.to_string()).into_bytes());
    }
}
