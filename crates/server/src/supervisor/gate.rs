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

/// The permit of one launch to be starting. It is returned when dropped.
#[derive(Debug)]
pub(crate) struct GatePermit {
    gate: Arc<Gate>,
    _permit: OwnedSemaphorePermit,
}

impl GatePermit {
    /// Reports that this launch has started. If only the first launch was admitted until now, the
    /// gate admits the others.
    pub(crate) fn report_started(&self) {
        let withheld = self.gate.withheld.swap(0, Ordering::Relaxed);
        self.gate.permits.add_permits(withheld);
    }
}

/// A semaphore for launches that share a limit.
#[derive(Debug)]
struct Gate {
    permits: Arc<Semaphore>,
    /// The number of permits that are added after the first launch has started.
    withheld: AtomicUsize,
}

impl Gate {
    fn new(pace: Pace) -> Self {
        let at_once = pace.at_once.max(1);
        let first = if pace.first_alone { 1 } else { at_once };
        let withheld = AtomicUsize::new(at_once - first);
        Self { permits: Arc::new(Semaphore::new(first)), withheld }
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
        let permit = Arc::clone(&gate.permits).acquire_owned().await.ok()?;
        Some(GatePermit { gate, _permit: permit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn gate_admits_one_launch_until_the_first_has_started() {
        let gates = Gates::default();
        let account = Account { vendor: VendorId::new("tool"), config_dir: "/home".into() };
        let key = GateKey::Account(account);
        let pace = Pace { at_once: 3, first_alone: true };
        let first = gates.enter(key.clone(), pace).await.unwrap();
        let gate = Arc::clone(&first.gate);
        assert_eq!(gate.permits.available_permits(), 0);
        first.report_started();
        first.report_started();
        assert_eq!(gate.permits.available_permits(), 2);
        drop(first);
        assert_eq!(gate.permits.available_permits(), 3);
    }
}
