//! How full Segue's folders are.

use crate::model::DiskLevel;

/// How much disk space Segue may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskBudget {
    pub bytes: u64,
    /// From this number of bytes on, the user is warned.
    pub warn_bytes: u64,
}

impl DiskBudget {
    /// Returns a budget with a warning at a part of it, which is between 0 and 1.
    pub fn new(bytes: u64, warn: f64) -> Self {
        // Sizes of disks are far below 2^53, so nothing is lost.
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the result is between 0 and `bytes`"
        )]
        let warn_bytes = (bytes as f64 * warn.clamp(0.0, 1.0)) as u64;
        Self { bytes, warn_bytes }
    }
}

/// Returns the level of a number of bytes.
pub fn level_of(used: u64, budget: &DiskBudget) -> DiskLevel {
    if used >= budget.bytes {
        DiskLevel::Full
    } else if used >= budget.warn_bytes {
        DiskLevel::Warning
    } else {
        DiskLevel::Normal
    }
}
