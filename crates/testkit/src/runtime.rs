//! Runs asynchronous code of Segue in a test.

use tokio::runtime::Builder;

/// Runs a future to its end on the current thread, with timers and I/O.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}
