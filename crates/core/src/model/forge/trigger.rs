//! The kinds of events that a dispatch rule can name.

use crate::word_enum::word_enum;

word_enum! {
    /// The kind of an event on a forge. Every forge uses the same words.
    pub enum TriggerKind {
        /// A user was assigned to an issue.
        IssueAssigned = "issue.assigned",
        /// A label was added to an issue.
        IssueLabeled = "issue.labeled",
        IssueCommented = "issue.commented",
        IssueClosed = "issue.closed",
        IssueReopened = "issue.reopened",
        /// A pull request was opened, or is no longer a draft.
        PullOpened = "pull.opened",
        PullReviewRequested = "pull.review_requested",
        PullReviewSubmitted = "pull.review_submitted",
        /// A comment on a pull request, or on a line of its changes.
        PullCommented = "pull.commented",
        /// The head of a pull request has other commits.
        PullSynchronized = "pull.synchronized",
        /// A pull request was closed without being merged.
        PullClosed = "pull.closed",
        PullMerged = "pull.merged",
        CiFailed = "ci.failed",
        CiSucceeded = "ci.succeeded",
        BranchDeleted = "branch.deleted",
        /// Commits were pushed to a branch.
        Push = "push",
    }
}
