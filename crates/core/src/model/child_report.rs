//! What a task reports to its parent.

use jiff::Timestamp;

use super::{MessageId, TaskId};

/// The report of a task that has ended to the task that it is a part of. It is stored until it is
/// queued as a message to the session of the parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildReport {
    /// The id of the message.
    pub message: MessageId,
    pub child: TaskId,
    pub parent: TaskId,
    pub text: String,
    pub created_at: Timestamp,
}
