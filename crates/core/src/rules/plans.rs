//! Decisions about plans: whether a file is a valid plan, which of its tasks may start, what the end
//! of a task means for the others, and what a new version of the file changes.
//!
//! No decision after the end of a task reads the whole plan. The plan has counts of its tasks, and
//! each task has the number of needed tasks that have not ended.

mod check;
mod difference;
mod gates;
mod graph;
mod progress;
mod prompt;
#[cfg(test)]
mod tests;

pub use check::{MAX_PLAN_TASKS, PlanProblem, check_plan};
pub use difference::{PlanDifference, TaskDifference, compare_plans};
pub use gates::{approval_text, released_by_one};
pub use graph::{GraphNode, dot_graph, text_graph};
pub use progress::{PlanProgress, plan_state};
pub use prompt::{NeededResult, check_prompt, named_tasks, render_prompt};
