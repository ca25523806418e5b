//! Ctrl-C (SIGINT): ends a wait while a command waits, and ends the process at any other time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use segue_core::{Error, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Whether SIGINT ends this process, which is the default action of the signal. Tokio's handler
/// stays installed after the first wait; without this flag Ctrl-C could not end a later question on
/// the terminal.
static IS_FATAL: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
    let flag = Arc::new(AtomicBool::new(true));
    let number = SignalKind::interrupt().as_raw_value();
    // If the registration fails, SIGINT still ends a wait.
    let _registered = signal_hook::flag::register_conditional_default(number, Arc::clone(&flag));
    flag
});

/// Catches SIGINT as long as this value exists. Meanwhile the signal does not end the process.
#[derive(Debug)]
pub(crate) struct Interrupts(Signal);

impl Interrupts {
    pub(crate) fn take() -> Result<Self> {
        IS_FATAL.store(false, Ordering::SeqCst);
        let signal = signal(SignalKind::interrupt())
            .map_err(|error| Error::internal("cannot handle SIGINT (Ctrl-C)").caused_by(error))?;
        Ok(Self(signal))
    }

    /// Waits for the next SIGINT.
    pub(crate) async fn next(&mut self) {
        self.0.recv().await;
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        IS_FATAL.store(true, Ordering::SeqCst);
    }
}

/// From now on SIGINT does not end this process: Ctrl-C is for the pager. This process ends when
/// the user quits the pager.
pub(crate) fn leave_to_pager() {
    IS_FATAL.store(false, Ordering::SeqCst);
}
