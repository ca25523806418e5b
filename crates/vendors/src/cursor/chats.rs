//! The databases from which Cursor resumes a conversation: `chats/<folder>/<id>/store.db`. Beside
//! each database is `meta.json` with the folder and the start time of the conversation. Segue
//! checks that a database exists, and never opens it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::ports::Files;
use serde::Deserialize;

/// Maximum size of `meta.json`. It contains a path and a title.
const LARGEST_META_BYTES: usize = 64 * 1024;

/// The content of `meta.json`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "camelCase")]
struct ChatMeta {
    cwd: Option<PathBuf>,
    created_at_ms: Option<i64>,
    has_conversation: Option<bool>,
    is_subagent: bool,
}

/// A conversation that Cursor can resume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chat {
    /// The folder in which the conversation was begun. Older versions do not record it.
    pub(super) cwd: Option<PathBuf>,
    pub(super) began_at: Option<Timestamp>,
    pub(super) modified: Timestamp,
    /// According to Cursor, the conversation has no message yet.
    pub(super) is_blank: bool,
}

/// Finds a conversation of this folder. Cursor has a database per folder, so a conversation with
/// the same id in another folder is a different one.
pub(super) fn find(files: &dyn Files, config_dir: &Path, cwd: &Path, id: &str) -> Option<Chat> {
    let all = all(files, config_dir, id);
    let of_folder = all.iter().find(|chat| chat.cwd.as_deref() == Some(cwd));
    of_folder.or_else(|| all.iter().find(|chat| chat.cwd.is_none())).cloned()
}

/// Returns the databases of a conversation in all folders.
pub(super) fn all(files: &dyn Files, config_dir: &Path, id: &str) -> Vec<Chat> {
    let chats = config_dir.join("chats");
    let folders = files.list(&chats).unwrap_or_default().into_iter().chain([chats]);
    folders.filter_map(|folder| read(files, &folder.join(id))).collect()
}

fn read(files: &dyn Files, folder: &Path) -> Option<Chat> {
    let modified = files.facts(&folder.join("store.db")).ok()??.modified;
    let bytes = files.head(&folder.join("meta.json"), LARGEST_META_BYTES).unwrap_or_default();
    let meta: ChatMeta = serde_json::from_slice(&bytes).unwrap_or_default();
    let began_at = meta.created_at_ms.and_then(|at| Timestamp::from_millisecond(at).ok());
    let is_blank = meta.has_conversation == Some(false);
    (!meta.is_subagent).then_some(Chat { cwd: meta.cwd, began_at, modified, is_blank })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    const ID: &str = "32143814-2a0b-4c11-9d55-0b7c5a1f6e01";

    fn write(home: &Home, folder: &str, meta: &str) {
        home.write(&format!("chats/{folder}/{ID}/store.db"), "SQLite format 3\0");
        home.write(&format!("chats/{folder}/{ID}/meta.json"), meta);
    }

    fn found(home: &Home) -> Option<Chat> {
        find(&home.disk, &home.place.config_dir, &home.place.cwd, ID)
    }

    #[test]
    fn find_returns_the_conversation_of_the_working_folder() {
        let home = Home::new();
        assert_eq!(found(&home), None);
        write(&home, "elsewhere", r#"{"schemaVersion":1,"createdAtMs":1,"cwd":"/code/b"}"#);
        assert_eq!(found(&home), None);
        let meta = r#"{"schemaVersion":1,"createdAtMs":1790000000000,"hasConversation":true,"updatedAtMs":1790000000001,"cwd":"/code/a"}"#;
        write(&home, "5d41402a", meta);
        let chat = found(&home).unwrap();
        assert_eq!(chat.began_at, Timestamp::from_millisecond(1_790_000_000_000).ok());
        assert!(!chat.is_blank);
        assert_eq!(all(&home.disk, &home.place.config_dir, ID).len(), 2);
    }

    #[test]
    fn database_without_metadata_is_found() {
        let home = Home::new();
        home.write(&format!("chats/{ID}/store.db"), "");
        assert_eq!(found(&home).unwrap().cwd, None);
    }

    #[test]
    fn subagent_or_missing_database_is_no_conversation() {
        let home = Home::new();
        write(&home, "a", r#"{"isSubagent":true,"cwd":"/code/a"}"#);
        home.write(&format!("chats/b/{ID}/meta.json"), r#"{"cwd":"/code/a"}"#);
        assert_eq!(found(&home), None);
        write(&home, "c", r#"{"hasConversation":false,"cwd":"/code/a"}"#);
        assert!(found(&home).unwrap().is_blank);
    }
}
