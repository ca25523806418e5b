//! Decides what the events of a forge start: tasks of agents, or the end of the work on an issue.

mod decide;
mod missed;
mod permissions;
mod polled;
mod record;
mod repositories;
mod request;
mod runs;
mod subject;

pub use decide::{DispatchContext, DispatchDecision, RuleReport, decide, explain, linked_pull};
pub use missed::missed_assignments;
pub use permissions::PermissionCache;
pub use polled::polled_events;
pub use record::{closed, failed, ignored, processed, reopened};
pub use repositories::{ListEtags, RepositoryNews, named_repositories, polled_news};
pub use request::PlannedTask;
pub use runs::finished_runs;
