//! Resets the peak memory of this process.

use std::fs;

use segue_testkit::memory::resident;

/// Resets the peak memory of this process. Returns the current memory in bytes.
pub(crate) fn reset_peak() -> u64 {
    // If the kernel refuses the reset, the peak of all earlier cases remains. It is then too high,
    // but never too low.
    let _reset = fs::write("/proc/self/clear_refs", "5");
    resident()
}
