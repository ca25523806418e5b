//! Gates limit how many launches may be starting at the same time, per account and per place.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use segue_core::model::VendorId;
use segue_core::ports::{Pace, Place};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::accounts::Account;

/// The launches that share one limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GateKey {
    /// A vendor's account, with the vendor's own limit.
    Account(Account),
    /// A place in which the vendor chooses the id of a conversation. One launch at a time may start
    /// there, until its id is known.
    Finding { vendor: VendorId, place: Place },
}

/// The permit to be starting. It is returned when dropped.
#[derive(Debug)]
pub(crate) struct GatePermit {
    gate: Arc<Gate>,
    _permit: OwnedSemaphorePermit,
}

impl GatePermit {
    /// Reports that this launch is up. If only the first launch was allowed until now, the gate
    /// opens for the others.
    pub(crate) fn arrived(&self) {
        let wider = self.gate.closed.swap(0, Ordering::Relaxed);
        self.gate.open.add_permits(wider);
    }
}

/// A semaphore for launches that share a limit.
#[derive(Debug)]
struct Gate {
    open: Arc<Semaphore>,
    /// How many permits are added after the first launch has come up.
    closed: AtomicUsize,
}

impl Gate {
    fn new(pace: Pace) -> Self {
        let at_once = pace.at_once.max(1);
        let first = if pace.first_alone { 1 } else { at_once };
        Self { open: Arc::new(Semaphore::new(first)), closed: AtomicUsize::new(at_once - first) }
    }
}

/// All gates. A gate is created when it is first used.
#[derive(Debug, Default)]
pub(crate) struct Gates(Mutex<HashMap<GateKey, Arc<Gate>>>);

impl Gates {
    /// Waits for a permit. The pace is used only when the gate is created.
    pub(crate) async fn enter(&self, key: GateKey, pace: Pace) -> Option<GatePermit> {
        let gate = {
            let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(gates.entry(key).or_insert_with(|| Arc::new(Gate::new(pace))))
        };
        // The semaphore is never closed, so this does not fail.
        let permit = Arc::clone(&gate.open).acquire_owned().await.ok()?;
        Some(GatePermit { gate, _permit: permit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn gate_admits_one_launch_until_the_first_has_come_up() {
        let gates = Gates::default();
        let account = Account { vendor: VendorId::new("tool"), config_dir: "/home".into() };
        let key = GateKey::Account(account);
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
