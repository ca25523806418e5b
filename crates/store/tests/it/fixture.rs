//! Databases and folders for tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

/// A temporary folder with the path of a store in it.
pub(crate) struct StoreFixture {
    folder: TempDir,
    pub(crate) store: PathBuf,
}

impl StoreFixture {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let store = folder.path().join("segue.db");
        Self { folder, store }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn beside(&self, suffix: &str) -> PathBuf {
        PathBuf::from(format!("{}{suffix}", self.store.display()))
    }

    /// Returns every file of the folder with its bytes.
    pub(crate) fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        contents(self.folder())
    }

    /// Copies the store as a killed process leaves it: the log is not in the database yet.
    pub(crate) fn killed_copy(&self) -> Self {
        let copy = Self::new();
        for suffix in ["", "-wal", "-shm"] {
            fs::copy(self.beside(suffix), copy.beside(suffix)).unwrap();
        }
        copy
    }
}

/// Returns every file of a folder with its bytes, except the mark of a database that was closed.
pub(crate) fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read(entry.path()).unwrap_or_default())
    };
    entries.map(read).filter(|(name, _)| !name.ends_with(".intact")).collect()
}

/// Creates the database of an earlier version, with one session in it, and closes it.
pub(crate) fn database_of_version(path: &Path, version: u32) {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    for (_, migration) in (0..version).zip(migrations()) {
        connection.execute_batch(&fs::read_to_string(migration).unwrap()).unwrap();
    }
    connection.pragma_update(None, "user_version", version).unwrap();
    connection.execute_batch(OLD_SESSION).unwrap();
    connection.close().unwrap();
}

pub(crate) fn newest_version() -> u32 {
    u32::try_from(migrations().len()).unwrap()
}

pub(crate) const OLD_SESSION_ID: &str = "01890000-0000-7000-8000-000000000001";

const OLD_SESSION: &str = r#"
    INSERT INTO sessions (
        id, fleet, name, agent, vendor, cwd, config_dir, model, permission, headless, restart,
        parent, status, spoke, created_at, updated_at, args, env, instructions
    ) VALUES (
        '01890000-0000-7000-8000-000000000001', 'shop', 'coder', NULL, 'sample', '/code/shop',
        '/home/me/.sample', NULL, 'ask', 0, 'on-crash', NULL, '{"status":"idle"}', 1,
        '2026-01-02T03:04:05.000000006Z', '2026-01-02T03:04:05.000000007Z', '[]', '{}', NULL
    );
    INSERT INTO claims VALUES ('sample', 'id-1', '01890000-0000-7000-8000-000000000001');
    INSERT INTO bindings (session, vendor_session, evidence, at) VALUES (
        '01890000-0000-7000-8000-000000000001', 'id-1', 'hook', '2026-01-02T03:04:05.000000008Z'
    );"#;

fn migrations() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
