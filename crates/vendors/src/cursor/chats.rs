//! The databases from which Cursor brings a conversation back: `chats/<folder>/<id>/store.db`, each
//! with a small file that says where and when it was begun. They are looked at, never opened.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::ports::Files;
use serde::Deserialize;

/// No such file is longer: it has a path and a title.
const LONGEST: usize = 64 * 1024;

/// What is beside a database.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "camelCase")]
struct Meta {
    cwd: Option<PathBuf>,
    created_at_ms: Option<i64>,
    has_conversation: Option<bool>,
    is_subagent: bool,
}

/// A conversation that Cursor can bring back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chat {
    /// Where it was begun; older versions do not say.
    pub(super) cwd: Option<PathBuf>,
    pub(super) began_at: Option<Timestamp>,
    pub(super) modified: Timestamp,
    /// Cursor says that nothing was said in it yet.
    pub(super) is_blank: bool,
}

/// Finds a conversation of this folder. One that was begun elsewhere under the same id is another:
/// Cursor has a database for each folder.
pub(super) fn find(files: &dyn Files, config_dir: &Path, cwd: &Path, id: &str) -> Option<Chat> {
    let all = all(files, config_dir, id);
    let own = all.iter().find(|chat| chat.cwd.as_deref() == Some(cwd));
    own.or_else(|| all.iter().find(|chat| chat.cwd.is_none())).cloned()
}

/// Returns the databases of a conversation, from whichever folder.
pub(super) fn all(files: &dyn Files, config_dir: &Path, id: &str) -> Vec<Chat> {
    let chats = config_dir.join("chats");
    let folders = files.list(&chats).unwrap_or_default().into_iter().chain([chats]);
    folders.filter_map(|folder| read(files, &folder.join(id))).collect()
}

fn read(files: &dyn Files, folder: &Path) -> Option<Chat> {
    let modified = files.facts(&folder.join("store.db")).ok()??.modified;
    let bytes = files.head(&folder.join("meta.json"), LONGEST).unwrap_or_default();
    let meta: Meta = serde_json::from_slice(&bytes).unwrap_or_default();
    let began_at = meta.created_at_ms.and_then(|at| Timestamp::from_millisecond(at).ok());
    let is_blank = meta.has_conversation == Some(false);
    (!meta.is_subagent).then_some(Chat { cwd: meta.cwd, began_at, modified, is_blank })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Home;

    const ID: &str = "32143814-2a0b-4c11-9d55-0b7c5a1f6e01";

    fn write(home: &Home, folder: &str, meta: &str) {
        home.write(&format!("chats/{folder}/{ID}/store.db"), "SQLite format 3\0");
        home.write(&format!("chats/{folder}/{ID}/meta.json"), meta);
    }

    fn found(home: &Home) -> Option<Chat> {
        find(&home.disk, &home.place.config_dir, &home.place.cwd, ID)
    }

    #[test]
    fn a_conversation_is_that_of_its_own_folder() {
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
    fn what_says_nothing_about_itself_is_taken_as_it_is() {
        let home = Home::new();
        home.write(&format!("chats/{ID}/store.db"), "");
        assert_eq!(found(&home).unwrap().cwd, None);
    }

    #[test]
    fn neither_a_subagent_nor_a_lost_database_is_a_conversation() {
        let home = Home::new();
        write(&home, "a", r#"{"isSubagent":true,"cwd":"/code/a"}"#);
        home.write(&format!("chats/b/{ID}/meta.json"), r#"{"cwd":"/code/a"}"#);
        assert_eq!(found(&home), None);
        write(&home, "c", r#"{"hasConversation":false,"cwd":"/code/a"}"#);
        assert!(found(&home).unwrap().is_blank);
    }
}
