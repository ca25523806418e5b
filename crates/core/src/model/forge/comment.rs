//! Comments on issues and pull requests.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ForgeUser;
use crate::word_enum::word_enum;

/// A comment on an issue, on a pull request, or on a line of its changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgeComment {
    pub id: u64,
    pub body: String,
    pub author: Option<ForgeUser>,
    /// The commented line. `None` for a comment on the whole issue or pull request.
    pub place: Option<CommentPlace>,
    /// The review that the comment belongs to.
    pub review_id: Option<u64>,
    /// The discussion that the comment belongs to, on forges that have discussions.
    pub thread: Option<String>,
    pub web_url: String,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

/// The place in a diff that a comment is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentPlace {
    pub path: String,
    /// The last commented line. `None` if the comment is about the whole file, or if later commits
    /// removed the line.
    pub line: Option<u32>,
    /// The first commented line, if there are several.
    pub start_line: Option<u32>,
    pub side: DiffSide,
}

word_enum! {
    /// A side of a diff.
    pub enum DiffSide {
        /// The file before the change: the comment is about a removed line.
        Old = "old",
        New = "new",
    }
}

/// The issue or pull request that comments belong to. Some forges number the two separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForgeSubject {
    Issue(u64),
    Pull(u64),
}

impl ForgeSubject {
    pub fn number(self) -> u64 {
        match self {
            Self::Issue(number) | Self::Pull(number) => number,
        }
    }
}

impl fmt::Display for ForgeSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Issue(number) => write!(f, "issue #{number}"),
            Self::Pull(number) => write!(f, "pull request #{number}"),
        }
    }
}
