//! The API of GitHub, which Gitea and Forgejo have copied. A [`HubDialect`] has the differences.

use std::fmt::Debug;
use std::ops::ControlFlow;

use async_trait::async_trait;
use jiff::Timestamp;
use segue_core::model::{
    CiLog, CiLogSource, CiRun, ForgeComment, ForgeIssue, ForgePull, ForgeRepository, ForgeReview,
    ForgeSubject, ForgeUser, ListedIssue, ListedPull, ListedRun, RepositoryAddress,
    RepositoryPermission, SubjectChange,
};
use segue_core::ports::{
    AssignedIssue, CommentSearch, ForgeApi, ForgeResult, ListPage, ListQuery, ListScope,
};
use segue_core::rules::closing_words;
use serde::Deserialize;
use serde_json::json;

use super::payload::{CommentJson, IssueJson, PullJson, RepositoryJson, UserJson};
use super::{history, logs};
use crate::client::{ApiClient, ApiRequest, repository_path};

/// The differences between forges with this API.
#[async_trait]
pub(crate) trait HubDialect: Debug + Send + Sync {
    /// Adds the largest page size to a request for a list.
    fn paged(&self, request: ApiRequest) -> ApiRequest;

    /// Returns the request for the issues that are assigned to the account.
    fn assigned(&self, since: Option<Timestamp>) -> ApiRequest;

    /// Returns the request for the issues of a repository, the last changed ones first.
    fn changed_issues(&self, path: &str, since: Option<Timestamp>) -> ApiRequest;

    /// Returns the request for the pull requests of a repository, the last changed ones first.
    fn changed_pulls(&self, path: &str) -> ApiRequest;

    /// Returns the path below an issue with its history.
    fn history(&self) -> &'static str;

    /// Returns the finished workflow runs of a branch that have logs.
    async fn workflow_runs(
        &self,
        client: &ApiClient,
        repository: &RepositoryAddress,
        branch: &str,
    ) -> ForgeResult<Vec<ListedRun>>;

    /// Returns the text in which closing words count.
    fn closing_text(&self, pull: &ForgePull) -> String;

    /// Returns all submitted reviews of a pull request with their comments.
    async fn reviews(
        &self,
        client: &ApiClient,
        repository: &RepositoryAddress,
        number: u64,
    ) -> ForgeResult<Vec<ForgeReview>>;
}

/// A client for the API.
#[derive(Debug)]
pub(crate) struct HubApi<D> {
    client: ApiClient,
    dialect: D,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PermissionJson {
    permission: Option<String>,
    user: Option<UserJson>,
}

/// Returns a parameter for a time. The forges keep whole seconds.
pub(crate) fn since_parameter(since: Option<Timestamp>) -> Option<String> {
    let whole = since.and_then(|it| Timestamp::from_second(it.as_second()).ok());
    whole.map(|it| it.to_string())
}

impl<D: HubDialect> HubApi<D> {
    pub(crate) fn new(client: ApiClient, dialect: D) -> Self {
        Self { client, dialect }
    }

    fn comments_request(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        since: Option<Timestamp>,
    ) -> ApiRequest {
        let path = format!("{}/issues/{}/comments", repository_path(repository), subject.number());
        let object = format!("the comments on {subject} of {}", repository.full_name);
        let request = ApiRequest::get(&path, object);
        self.dialect.paged(request).with_optional("since", since_parameter(since))
    }
}

#[async_trait]
impl<D: HubDialect> ForgeApi for HubApi<D> {
    async fn own_account(&self) -> ForgeResult<ForgeUser> {
        self.client
            .converted(&ApiRequest::get("user", "the account of the token"), UserJson::user)
            .await
    }

    async fn permission(
        &self,
        repository: &RepositoryAddress,
        user: &ForgeUser,
    ) -> ForgeResult<RepositoryPermission> {
        let (name, login) = (&repository.full_name, &user.login);
        let path = format!("{}/collaborators/{login}/permission", repository_path(repository));
        let object = format!("the permission of {login} in {name}");
        let answer: Option<PermissionJson> =
            self.client.optional(&ApiRequest::get(&path, object)).await?;
        let Some(answer) = answer else { return Ok(RepositoryPermission::None) };
        // The login may belong to another account by now.
        let asked = answer.user.and_then(UserJson::user);
        if asked.is_some_and(|asked| !asked.is_same(user)) {
            return Ok(RepositoryPermission::None);
        }
        Ok(match answer.permission.as_deref() {
            Some("owner" | "admin") => RepositoryPermission::Admin,
            Some("write") => RepositoryPermission::Write,
            Some("read") => RepositoryPermission::Read,
            _ => RepositoryPermission::None,
        })
    }

    async fn repository(&self, repository: &RepositoryAddress) -> ForgeResult<ForgeRepository> {
        let object = format!("the repository {}", repository.full_name);
        let request = ApiRequest::get(&repository_path(repository), object);
        self.client.converted(&request, RepositoryJson::repository).await
    }

    async fn repository_named(&self, full_name: &str) -> ForgeResult<ForgeRepository> {
        let object = format!("the repository {full_name}");
        let request = ApiRequest::get(&format!("repos/{full_name}"), object);
        self.client.converted(&request, RepositoryJson::repository).await
    }

    async fn issue(&self, repository: &RepositoryAddress, number: u64) -> ForgeResult<ForgeIssue> {
        let path = format!("{}/issues/{number}", repository_path(repository));
        let object = format!("issue #{number} of {}", repository.full_name);
        self.client.converted(&ApiRequest::get(&path, object), IssueJson::issue).await
    }

    async fn comments(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        since: Option<Timestamp>,
    ) -> ForgeResult<Vec<ForgeComment>> {
        let request = self.comments_request(repository, subject, since);
        let comments: Vec<CommentJson> = self.client.all(&request).await?;
        Ok(comments.into_iter().filter_map(CommentJson::comment).collect())
    }

    async fn pull(&self, repository: &RepositoryAddress, number: u64) -> ForgeResult<ForgePull> {
        let path = format!("{}/pulls/{number}", repository_path(repository));
        let object = format!("pull request #{number} of {}", repository.full_name);
        self.client.converted(&ApiRequest::get(&path, object), PullJson::pull).await
    }

    async fn reviews(
        &self,
        repository: &RepositoryAddress,
        number: u64,
        since: Option<Timestamp>,
    ) -> ForgeResult<Vec<ForgeReview>> {
        let mut reviews = self.dialect.reviews(&self.client, repository, number).await?;
        reviews.retain(|review| since.is_none_or(|since| review.submitted_at >= Some(since)));
        reviews.sort_by_key(|review| review.submitted_at);
        Ok(reviews)
    }

    async fn assigned_issues(&self, query: &ListQuery) -> ForgeResult<ListPage<AssignedIssue>> {
        let request = self.dialect.paged(self.dialect.assigned(query.since));
        let assigned = |mut issue: IssueJson| {
            let repository = issue.repository.take().filter(|_| !issue.is_pull())?.address()?;
            Some(AssignedIssue { repository, issue: issue.issue()? })
        };
        self.client.listed(&request, query, assigned).await
    }

    async fn changed_issues(
        &self,
        repository: &RepositoryAddress,
        scope: ListScope,
        query: &ListQuery,
    ) -> ForgeResult<ListPage<ListedIssue>> {
        let request = self.dialect.changed_issues(&repository_path(repository), query.since);
        let request = self.dialect.paged(request.with("state", state_word(scope)));
        self.client.listed(&request, query, IssueJson::listed).await
    }

    async fn changed_pulls(
        &self,
        repository: &RepositoryAddress,
        scope: ListScope,
        query: &ListQuery,
    ) -> ForgeResult<ListPage<ListedPull>> {
        let request = self.dialect.changed_pulls(&repository_path(repository));
        let request = self.dialect.paged(request.with("state", state_word(scope)));
        self.client.listed(&request, query, PullJson::listed).await
    }

    async fn finished_runs(
        &self,
        repository: &RepositoryAddress,
        branch: &str,
    ) -> ForgeResult<Vec<ListedRun>> {
        let mut runs = self.dialect.workflow_runs(&self.client, repository, branch).await?;
        runs.extend(history::statuses(&self.client, repository, branch).await?);
        Ok(history::newest_of_each_name(runs))
    }

    async fn author_of_change(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        change: &SubjectChange,
        since: Option<Timestamp>,
    ) -> ForgeResult<Option<ForgeUser>> {
        let number = subject.number();
        let path =
            format!("{}/issues/{number}/{}", repository_path(repository), self.dialect.history());
        let object = format!("the history of {subject} of {}", repository.full_name);
        let request = self.dialect.paged(ApiRequest::get(&path, object));
        let entries = self.client.all(&request).await?;
        Ok(history::author(entries, change, since))
    }

    async fn failed_log(
        &self,
        repository: &RepositoryAddress,
        run: &CiRun,
        bytes: usize,
    ) -> ForgeResult<Option<CiLog>> {
        match run.log {
            CiLogSource::Run(id) => logs::of_run(&self.client, repository, id, bytes).await,
            CiLogSource::Suite(id) => logs::of_suite(&self.client, repository, id, bytes).await,
            CiLogSource::None => Ok(None),
        }
    }

    async fn post_comment(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        body: &str,
    ) -> ForgeResult<ForgeComment> {
        let path = format!("{}/issues/{}/comments", repository_path(repository), subject.number());
        let object = format!("a new comment on {subject} of {}", repository.full_name);
        let request = ApiRequest::post(&path, object, &json!({ "body": body }));
        self.client.converted(&request, CommentJson::comment).await
    }

    async fn find_comment(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        search: &CommentSearch<'_>,
    ) -> ForgeResult<Option<ForgeComment>> {
        let request = self.comments_request(repository, subject, search.since);
        let each = |comments: Vec<CommentJson>| {
            let mut comments = comments.into_iter().filter_map(CommentJson::comment);
            match comments.find(|comment| is_found(comment, search)) {
                Some(found) => ControlFlow::Break(found),
                None => ControlFlow::Continue(()),
            }
        };
        self.client.each_page(&request, each).await
    }

    async fn closed_by(
        &self,
        repository: &RepositoryAddress,
        number: u64,
    ) -> ForgeResult<Vec<u64>> {
        let pull = self.pull(repository, number).await?;
        let text = self.dialect.closing_text(&pull);
        Ok(closing_words::closed_issues(&text, &repository.full_name))
    }
}

fn state_word(scope: ListScope) -> &'static str {
    match scope {
        ListScope::Open => "open",
        ListScope::All => "all",
    }
}

/// Returns whether a comment is the one that is looked for.
pub(crate) fn is_found(comment: &ForgeComment, search: &CommentSearch<'_>) -> bool {
    let is_by_author = comment.author.as_ref().is_some_and(|it| it.is_same(search.author));
    is_by_author && comment.body.contains(search.marker)
}
