//! Objects in lists of a forge's API, with times that deliveries do not need.

use jiff::Timestamp;

use super::{CiRun, ForgeIssue, ForgePull, ForgeUser};

/// An issue in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedIssue {
    pub issue: ForgeIssue,
    pub created_at: Option<Timestamp>,
    /// `None` if the issue is open.
    pub closed_at: Option<Timestamp>,
}

/// A pull request in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPull {
    pub pull: ForgePull,
    pub created_at: Option<Timestamp>,
    /// When the pull request was closed or merged. `None` if it is open.
    pub closed_at: Option<Timestamp>,
    /// The users whose review is requested now.
    pub reviewers: Vec<ForgeUser>,
}

/// A finished CI run in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRun {
    pub run: CiRun,
    pub updated_at: Option<Timestamp>,
}

/// A change of an issue or a pull request, whose author is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectChange {
    Labeled(String),
    Assigned(ForgeUser),
    ReviewRequested(ForgeUser),
    /// Closed, or merged.
    Closed,
    Reopened,
}
