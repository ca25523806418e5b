//! Disk use, old things that are removed, and conversations about issues that are dropped.

mod asked_issues;
mod candidates;
mod disk;
mod old_deliveries;
mod removal;
mod reset;
mod sweep;

pub use asked_issues::{AskedIssues, asked_issues};
pub use candidates::{CandidateScope, candidates, closed_sessions};
pub use disk::{DiskPlan, disk_plan, note_level};
pub use old_deliveries::{old_deliveries, remove_delivery_content};
pub use removal::remove;
pub use reset::{ResetTarget, drop_targets, dropped, is_busy, reset_targets};
pub use sweep::{next_sweep, record_next_sweep, record_sweep};
