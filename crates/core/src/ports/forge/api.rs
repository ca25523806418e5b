//! The API of a forge.

use std::fmt::Debug;

use async_trait::async_trait;
use jiff::Timestamp;

use super::ForgeResult;
use crate::model::{
    CiLog, CiRun, ForgeComment, ForgeIssue, ForgePull, ForgeRepository, ForgeReview, ForgeSubject,
    ForgeUser, ListedIssue, ListedPull, ListedRun, RepositoryAddress, RepositoryPermission,
    SubjectChange,
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

    /// Finds a repository by its name with its owner.
    async fn repository_named(&self, full_name: &str) -> ForgeResult<ForgeRepository>;

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
    async fn assigned_issues(&self, query: &ListQuery) -> ForgeResult<ListPage<AssignedIssue>>;

    /// Returns one page of the issues of a repository, the last changed ones first. A forge may
    /// ignore `since`.
    async fn changed_issues(
        &self,
        repository: &RepositoryAddress,
        scope: ListScope,
        query: &ListQuery,
    ) -> ForgeResult<ListPage<ListedIssue>>;

    /// Returns one page of the pull requests of a repository, the last changed ones first. A forge
    /// may ignore `since`.
    async fn changed_pulls(
        &self,
        repository: &RepositoryAddress,
        scope: ListScope,
        query: &ListQuery,
    ) -> ForgeResult<ListPage<ListedPull>>;

    /// Returns the newest finished CI run of each name for a branch. None if the forge does not know
    /// the branch.
    async fn finished_runs(
        &self,
        repository: &RepositoryAddress,
        branch: &str,
    ) -> ForgeResult<Vec<ListedRun>>;

    /// Returns the user who last made a change since a time. `None` if the forge does not tell it,
    /// or if there was no such change.
    async fn author_of_change(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        change: &SubjectChange,
        since: Option<Timestamp>,
    ) -> ForgeResult<Option<ForgeUser>>;

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

/// Which page of a list is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// Leaves out objects that have not changed since.
    pub since: Option<Timestamp>,
    /// The number of the page, from an earlier answer. `None` for the first page.
    pub page: Option<u32>,
    /// The ETag of an earlier answer to the same query.
    pub etag: Option<String>,
}

/// Which objects of a repository are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListScope {
    Open,
    All,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListPage<T> {
    /// The page is the same as when the forge sent the ETag of the query.
    NotModified,
    Page {
        items: Vec<T>,
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

/// Delays requests to a forge, so that many of them do not come at once.
#[async_trait]
pub trait RequestPace: Debug + Send + Sync {
    /// Waits until the next request may be sent.
    async fn turn(&self);
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
