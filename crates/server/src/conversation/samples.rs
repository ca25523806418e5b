//! Transcripts for tests.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use segue_core::api::ConversationPart;
use segue_core::model::{VendorId, VendorSessionId};
use tempfile::TempDir;

use super::{ConversationReading, Numbered, Window};

/// A transcript of the built-in agent.
pub(super) struct Sample {
    folder: TempDir,
}

impl Sample {
    pub(super) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("one.jsonl")
    }

    /// Appends a user's turn with this timestamp in seconds.
    pub(super) fn say(&self, text: &str, second: i64) {
        self.add(&line(text, second));
    }

    pub(super) fn add(&self, text: &str) {
        let file = OpenOptions::new().append(true).create(true).open(self.path());
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Replaces the transcript by another file.
    pub(super) fn replace(&self, texts: &[(&str, i64)]) {
        let lines: String = texts.iter().map(|(text, second)| line(text, *second)).collect();
        let new = self.folder.path().join("new");
        fs::write(&new, lines).unwrap();
        fs::rename(new, self.path()).unwrap();
    }

    pub(super) fn reading(&self) -> ConversationReading {
        self.part_of(Window::default())
    }

    pub(super) fn part_of(&self, window: Window) -> ConversationReading {
        let part = ConversationPart {
            session: None,
            vendor: VendorId::new("demo"),
            description: None,
            vendor_session_id: Some(VendorSessionId::new("one")),
            config_dir: self.folder.path().join("config"),
            cwd: PathBuf::from("/nowhere"),
            transcript: Some(self.path()),
            has_content: true,
            taken_over: None,
        };
        ConversationReading::of(&part, window).unwrap()
    }
}

fn line(text: &str, second: i64) -> String {
    let at = jiff::Timestamp::from_second(second).unwrap();
    let record = serde_json::json!({"type": "user", "text": text, "at": at});
    format!("{record}\n")
}

/// Returns the numbers and texts of turns.
pub(super) fn numbers_and_texts(turns: &[Numbered]) -> Vec<(Option<u64>, &str)> {
    turns.iter().map(|it| (it.index, it.turn.text.as_str())).collect()
}

pub(super) fn all_of(
    read: impl FnOnce(&mut super::EachNumbered<'_>) -> segue_core::Result<()>,
) -> Vec<Numbered> {
    let mut turns = Vec::new();
    read(&mut |turn| {
        turns.push(turn);
        ControlFlow::Continue(())
    })
    .unwrap();
    turns
}
