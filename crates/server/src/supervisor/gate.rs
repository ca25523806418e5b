//! Gates: how many launches may be starting at the same time, per account and per place.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use segue_core::ports::{Pace, Place};
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
#[derive(Debug)]
pub(crate) struct Pass {
    gate: Arc<Gate>,
    _permit: OwnedSemaphorePermit,
}

impl Pass {
    /// Says that whoever has this is up: the gate need not be narrow any more.
    pub(crate) fn arrived(&self) {
        let wider = self.gate.closed.swap(0, Ordering::Relaxed);
        self.gate.open.add_permits(wider);
    }
}

/// What lets so many through at the same time.
#[derive(Debug)]
struct Gate {
    open: Arc<Semaphore>,
    /// How many more may pass once the first one has arrived.
    closed: AtomicUsize,
}

impl Gate {
    fn new(pace: Pace) -> Self {
        let at_once = pace.at_once.max(1);
        let first = if pace.first_alone { 1 } else { at_once };
        Self { open: Arc::new(Semaphore::new(first)), closed: AtomicUsize::new(at_once - first) }
    }
}

/// All gates, made as they are needed.
#[derive(Debug, Default)]
pub(crate) struct Gates(Mutex<HashMap<Key, Arc<Gate>>>);

impl Gates {
    /// Waits until one more may pass. The pace counts when the gate is made.
    pub(crate) async fn enter(&self, key: Key, pace: Pace) -> Option<Pass> {
        let gate = {
            let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(gates.entry(key).or_insert_with(|| Arc::new(Gate::new(pace))))
        };
        // A semaphore that nobody closes always lets in.
        let permit = Arc::clone(&gate.open).acquire_owned().await.ok()?;
        Some(Pass { gate, _permit: permit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_of_an_account_goes_alone_where_that_is_needed() {
        let gates = Gates::default();
        let key = Key::Account { vendor: "tool".into(), config_dir: "/home".into() };
        let pace = Pace { at_once: 3, first_alone: true };
        let first = gates.enter(key.clone(), pace).await.unwrap();
        let gate = Arc::clone(&first.gate);
        assert_eq!(gate.open.available_permits(), 0);
        first.arrived();
        first.arrived();
        assert_eq!(gate.open.available_permits(), 2);
        drop(first);
        assert_eq!(gate.open.available_permits(), 3);
    }
}
