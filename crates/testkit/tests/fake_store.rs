//! The store in memory keeps the same contract as the real one, so that flows behave alike on both.

use std::sync::Arc;

use segue_core::ports::Store;
use segue_fakes::{Calls, FakeStore};
use segue_testkit::contract::store::Backend;

struct InMemory(FakeStore);

impl Backend for InMemory {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(self.0.clone())
    }
}

segue_testkit::store_contract!(InMemory(FakeStore::new(Calls::default())));
