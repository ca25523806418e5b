//! Disk use, old things that are removed, and conversations about issues that are dropped.

mod candidates;
mod disk;
mod removal;
mod reset;
mod sweep;

pub use candidates::{CandidateScope, candidates, closed_sessions};
pub use disk::{DiskPlan, disk_plan, note_level};
pub use removal::remove;
pub use reset::{ResetTarget, drop_targets, dropped, is_busy, reset_targets};
pub use sweep::{next_sweep, record_next_sweep, record_sweep};
