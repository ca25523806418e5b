//! The contract suite that every store must pass, on SQLite.

use std::sync::Arc;

use segue_core::ports::Store;
use segue_testkit::contract::store::Backend;
use tempfile::TempDir;

struct Sqlite {
    folder: TempDir,
}

impl Sqlite {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }
}

impl Backend for Sqlite {
    async fn open(&self) -> Arc<dyn Store> {
        segue_store::open(&self.folder.path().join("segue.db")).await.unwrap()
    }
}

segue_testkit::store_contract!(Sqlite::new());
