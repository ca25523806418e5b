//! The routes for programs that expect resources: sessions, messages, transcripts, tasks,
//! deliveries, worktrees and usage, by their ids, in pages. They call the same flows as the routes of the command line.

mod deliveries;
mod paged;
mod sessions;
mod tasks;
mod transcripts;
mod worktrees;

pub(crate) use deliveries::{list_deliveries, show_delivery};
pub(crate) use sessions::{find_session, list, messages, send, show};
pub(crate) use tasks::{cancel_task, list_tasks, retry_task, set_priority, show_task};
pub(crate) use transcripts::transcript;
pub(crate) use worktrees::{diff_worktree, list_worktrees, usage};
