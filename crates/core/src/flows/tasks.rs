//! Tasks: adding, finding, showing, starting, ending and retrying them. The dispatcher of the server
//! decides when a task runs.

mod add;
mod changes;
mod children;
mod end;
mod find;
mod place;
mod priority;
mod prompt;
mod record;
mod report;
mod retry;
mod side_effects;
mod start;
mod usage;
mod view;

pub use add::add;
pub(crate) use add::{PLAN_KEY_PREFIX, check_prompt};
pub use changes::with_base;
pub use children::{check_limits, explained, find_for, find_to_change, limit_in_commit, refused};
pub use end::{EndedTask, TaskEnd, begin_anew, end, is_changed_meanwhile, retry_fresh, wait};
pub(crate) use find::of_launch;
pub use find::{by_id, find};
pub use place::check_branch;
pub(crate) use place::{of_worktree, repository};
pub use priority::set_priority;
pub(crate) use prompt::check as check_templates;
pub use prompt::{after_wait, first_prompt, next_prompt, verify_prompt};
pub use record::change;
pub(crate) use record::event;
pub use report::{due_reports, is_report_sent, report, report_sent, reported_failure};
pub use retry::retry;
pub use side_effects::may_have_acted;
pub(crate) use start::agent_request;
pub use start::{continued, run_request, sent_back, session_of, started};
pub use view::{list, new_view, page, summaries, views};
