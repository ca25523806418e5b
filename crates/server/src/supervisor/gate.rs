//! Gates: how many launches may be starting at the same time, per account and per place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use segue_core::ports::Place;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What is limited together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A vendor's account: starts are paced.
    Account { vendor: String, config_dir: std::path::PathBuf },
    /// A place in which a vendor finds its own id: one start at a time, until it is bound.
    Finding { vendor: String, place: Place },
}

/// The right to be starting; given back when dropped.
pub(crate) type Pass = OwnedSemaphorePermit;

/// All gates, made as they are needed.
#[derive(Debug, Default)]
pub(crate) struct Gates(Mutex<HashMap<Key, Arc<Semaphore>>>);

impl Gates {
    /// Waits until one more may pass. `at_once` counts when the gate is made.
    pub(crate) async fn enter(&self, key: Key, at_once: usize) -> Option<Pass> {
        let gate = {
            let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(gates.entry(key).or_insert_with(|| Arc::new(Semaphore::new(at_once.max(1)))))
        };
        // A semaphore that nobody closes always lets in.
        gate.acquire_owned().await.ok()
    }
}
