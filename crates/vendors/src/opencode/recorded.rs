//! A recorded database of `OpenCode`, for tests.

use std::fs;
use std::path::PathBuf;

use rusqlite::{Connection, params};
use segue_core::model::{Turn, VendorSessionId};
use segue_core::ports::Place;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tempfile::TempDir;

use super::{OpenCode, paths};
use crate::testing::turns::read_turns;

/// Recorded with version 1.18.33. The first conversation has an answer, a tool call, a slow answer,
/// an interrupted answer and a failed answer. The second conversation began in the same process.
const RECORDED: &str = include_str!("fixtures/recorded.sql");

pub(super) const FIRST_ID: &str = "ses_01980000000070008000000000000001";
pub(super) const OTHER_ID: &str = "ses_e1d95e3ffffeu5NJhyoZ3vicmh";

#[derive(Deserialize)]
struct Parts {
    messages: Vec<PartsOfMessage>,
}

#[derive(Deserialize)]
struct PartsOfMessage {
    parts: Vec<Box<RawValue>>,
}

pub(super) struct RecordedDatabase {
    pub(super) folder: TempDir,
    pub(super) writer: Connection,
}

impl RecordedDatabase {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let writer = Connection::open(folder.path().join("opencode.db")).unwrap();
        writer.pragma_update(None, "journal_mode", "wal").unwrap();
        writer.pragma_update(None, "synchronous", "off").unwrap();
        writer.execute_batch(RECORDED).unwrap();
        Self { folder, writer }
    }

    pub(super) fn change(&self, sql: &str) {
        self.writer.execute_batch(sql).unwrap();
    }

    pub(super) fn place(&self) -> Place {
        Place { config_dir: self.folder.path().to_owned(), cwd: "/code/a".into() }
    }

    pub(super) fn transcript(&self, id: &str) -> PathBuf {
        paths::transcript(self.folder.path(), &VendorSessionId::new(id))
    }

    pub(super) fn write(&self, document: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join("document.json");
        fs::write(&path, document).unwrap();
        path
    }

    /// Imports a document as `OpenCode` does. Does not change existing rows.
    pub(super) fn import(&self, bytes: &[u8]) {
        let document: Value = serde_json::from_slice(bytes).unwrap();
        let info = &document["info"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let row = "INSERT OR IGNORE INTO session (id, project_id, slug, directory, title, version,
            time_created, time_updated, revert) VALUES (?1, '', '', ?2, '', '', 0, 0, ?3)";
        let revert = info.get("revert").map(Value::to_string);
        let values = params![text(&info["id"]), text(&info["directory"]), revert];
        self.writer.execute(row, values).unwrap();
        for message in document["messages"].as_array().unwrap() {
            let (info, session) = (&message["info"], text(&info["id"]));
            let row = "INSERT OR IGNORE INTO message VALUES (?1, ?2, ?3, 0, ?4)";
            let time = info["time"]["created"].as_i64().unwrap();
            let values = params![text(&info["id"]), session, time, info.to_string()];
            self.writer.execute(row, values).unwrap();
        }
        // Store the text of the parts unchanged, because the order of arguments matters.
        let document: Parts = serde_json::from_slice(bytes).unwrap();
        for message in &document.messages {
            for part_text in &message.parts {
                let row = "INSERT OR IGNORE INTO part VALUES (?1, ?2, ?3, 0, 0, ?4)";
                let part: Value = serde_json::from_str(part_text.get()).unwrap();
                let ids = (text(&part["id"]), text(&part["messageID"]));
                let values = params![ids.0, ids.1, text(&part["sessionID"]), part_text.get()];
                self.writer.execute(row, values).unwrap();
            }
        }
    }

    /// Reads a conversation in both directions, and expects the same turns.
    pub(super) fn turns(&self, id: &str) -> Vec<Turn> {
        read_turns(&OpenCode, &self.transcript(id))
    }
}
