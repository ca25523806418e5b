//! Replies: comments that Segue writes on a forge.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{ForgeSubject, ReplyId, RepositoryAddress, SourceName, TaskId};
use crate::word_enum::word_enum;

/// Where the result of a task is written as a comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyTarget {
    pub source: SourceName,
    pub repository: RepositoryAddress,
    pub subject: ForgeSubject,
}

/// A comment that is to be written, or was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgeReply {
    pub id: ReplyId,
    pub task: TaskId,
    pub target: ReplyTarget,
    /// The text, without the hidden marker by which the comment is found again.
    pub text: String,
    pub state: ReplyState,
    /// How often the forge was asked to write the comment.
    pub attempts: u32,
    /// Why the last attempt failed.
    pub error: Option<String>,
    pub created_at: Timestamp,
}

word_enum! {
    /// Whether a reply was written.
    pub enum ReplyState {
        Waiting = "waiting",
        Written = "written",
        /// The forge rejects the comment for good.
        Failed = "failed",
    }
}
