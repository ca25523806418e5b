//! Plans: applying a file, finding and showing plans, and what the end of a task means for its plan.
//!
//! Everything that one event changes about a plan is in one commit. The commit fails if another
//! request has changed the plan meanwhile; then the decision is made again with the new facts.

mod advance;
mod apply;
mod change;
mod control;
mod find;
mod gates;
mod order;
mod results;
mod view;

pub(crate) use advance::{PlanCommit, after_end, is_retried};
pub use apply::{AppliedPlan, PlanInput, apply};
pub use change::{ChangedPlan, is_plan_moved};
pub use control::{approve, retry, set_control};
pub use find::find;
pub use gates::gates;
pub use view::{list, show};
