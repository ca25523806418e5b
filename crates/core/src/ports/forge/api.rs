//! The API of a forge.

use std::fmt::Debug;

use async_trait::async_trait;
use jiff::Timestamp;

use super::ForgeResult;
use crate::model::{
    CiLog, CiRun, ForgeComment, ForgeIssue, ForgePull, ForgeRepository, ForgeReview, ForgeSubject,
    ForgeUser, RepositoryAddress, RepositoryPermission,
};

/// The API of one server, used with one account.
///
/// Texts, lists and answers have maximum sizes. After the server has limited requests, the client
/// sends none until the time that the server named.
#[async_trait]
pub trait ForgeApi: Debug + Send + Sync {
    /// Returns the account of the token.
    async fn own_account(&self) -> ForgeResult<ForgeUser>;

    /// Returns what a user may do in a repository. A user whom the forge does not know there has no
    /// permission.
    async fn permission(
        &self,
        repository: &RepositoryAddress,
        user: &ForgeUser,
    ) -> ForgeResult<RepositoryPermission>;

    async fn repository(&self, repository: &RepositoryAddress) -> ForgeResult<ForgeRepository>;

    async fn issue(&self, repository: &RepositoryAddress, number: u64) -> ForgeResult<ForgeIssue>;

    /// Returns the comments that were written or edited since a time, oldest first. Leaves out what
    /// the forge itself wrote. Comments on lines belong to reviews.
    async fn comments(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        since: Option<Timestamp>,
    ) -> ForgeResult<Vec<ForgeComment>>;

    async fn pull(&self, repository: &RepositoryAddress, number: u64) -> ForgeResult<ForgePull>;

    /// Returns the submitted reviews of a pull request since a time, oldest first, each with its
    /// comments on lines.
    async fn reviews(
        &self,
        repository: &RepositoryAddress,
        number: u64,
        since: Option<Timestamp>,
    ) -> ForgeResult<Vec<ForgeReview>>;

    /// Returns one page of the issues that are assigned to the account, whether open or closed.
    async fn assigned_issues(&self, query: &AssignedQuery) -> ForgeResult<AssignedIssues>;

    /// Returns the end of the log of the first failed job of a run, with at most this many bytes.
    /// `None` if the forge has no log of it.
    async fn failed_log(
        &self,
        repository: &RepositoryAddress,
        run: &CiRun,
        bytes: usize,
    ) -> ForgeResult<Option<CiLog>>;

    /// Writes a comment. A repeated call writes it again: look for it with `find_comment` first.
    async fn post_comment(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        body: &str,
    ) -> ForgeResult<ForgeComment>;

    /// Finds a comment by a text in it. Fails with `TooManyPages` if it was not found and there are
    /// more comments: that is no proof of its absence.
    async fn find_comment(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        search: &CommentSearch<'_>,
    ) -> ForgeResult<Option<ForgeComment>>;

    /// Returns the numbers of the issues of the same repository that are closed when the pull
    /// request is merged.
    async fn closed_by(&self, repository: &RepositoryAddress, number: u64)
    -> ForgeResult<Vec<u64>>;
}

/// Which page of the assigned issues is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssignedQuery {
    /// Leaves out issues that have not changed since.
    pub since: Option<Timestamp>,
    /// The number of the page, from an earlier answer. `None` for the first page.
    pub page: Option<u32>,
    /// The ETag of an earlier answer to the same query.
    pub etag: Option<String>,
}

/// One page of the assigned issues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignedIssues {
    /// The page is the same as when the forge sent the ETag of the query.
    NotModified,
    Page {
        issues: Vec<AssignedIssue>,
        /// The number of the next page. `None` on the last page.
        next: Option<u32>,
        /// `None` if the forge has no conditional requests.
        etag: Option<String>,
    },
}

/// An issue that is assigned to the account of the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignedIssue {
    pub repository: RepositoryAddress,
    pub issue: ForgeIssue,
}

/// A comment that is looked for.
#[derive(Clone, Copy, Debug)]
pub struct CommentSearch<'a> {
    /// The text that the comment contains.
    pub marker: &'a str,
    /// The author. Other users could copy the marker.
    pub author: &'a ForgeUser,
    /// The comment was not written before this time.
    pub since: Option<Timestamp>,
}
