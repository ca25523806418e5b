//! Ctrl-C: noticed while a command waits, and as usual at any other time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use segue_core::{Error, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Whether an interrupt ends this process, as it does where nobody asks for it. A question on the
/// terminal must not survive Ctrl-C because a wait before it noticed one.
static IS_FATAL: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
    let flag = Arc::new(AtomicBool::new(true));
    let number = SignalKind::interrupt().as_raw_value();
    // Where it cannot be registered, interrupts are noticed while something is waited for.
    let _registered = signal_hook::flag::register_conditional_default(number, Arc::clone(&flag));
    flag
});

/// Notices interrupts as long as it lives.
#[derive(Debug)]
pub(crate) struct Interrupts(Signal);

impl Interrupts {
    pub(crate) fn take() -> Result<Self> {
        IS_FATAL.store(false, Ordering::SeqCst);
        let signal = signal(SignalKind::interrupt())
            .map_err(|error| Error::internal("cannot notice interrupts").caused_by(error))?;
        Ok(Self(signal))
    }

    /// Returns at the next interrupt.
    pub(crate) async fn next(&mut self) {
        self.0.recv().await;
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        IS_FATAL.store(true, Ordering::SeqCst);
    }
}

/// Leaves interrupts to the pager from now on: its reader ends it, and this process with it.
pub(crate) fn leave_to_pager() {
    IS_FATAL.store(false, Ordering::SeqCst);
}
