//! The API of GitLab.

mod changes;
mod reviews;

use std::ops::ControlFlow;

use async_trait::async_trait;
use jiff::Timestamp;
use segue_core::model::{
    CiLog, CiLogSource, CiRun, ForgeComment, ForgeIssue, ForgePull, ForgeRepository, ForgeReview,
    ForgeSubject, ForgeUser, ListedIssue, ListedPull, ListedRun, PullState, RepositoryAddress,
    RepositoryPermission, SubjectChange,
};
use segue_core::ports::{
    AssignedIssue, CommentSearch, ForgeApi, ForgeResult, ListPage, ListQuery, ListScope,
};
use serde::Deserialize;
use serde_json::json;

use super::objects::{
    GitlabLabelJson, GitlabUserJson, PositionJson, ProjectJson, head_ref, labels, users,
};
use crate::client::{ApiClient, ApiRequest};
use crate::shared::list::FirstItems;
use crate::shared::rest::{is_found, since_parameter};
use crate::shared::{logs, text};

#[derive(Debug)]
pub(crate) struct GitlabApi {
    client: ApiClient,
}

/// An issue or a merge request.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ItemJson {
    id: Option<u64>,
    iid: Option<u64>,
    project_id: Option<u64>,
    title: Option<String>,
    description: Option<String>,
    state: Option<String>,
    web_url: Option<String>,
    author: Option<GitlabUserJson>,
    labels: FirstItems<GitlabLabelJson>,
    assignees: FirstItems<GitlabUserJson>,
    created_at: Option<String>,
    updated_at: Option<String>,
    closed_at: Option<String>,
    merged_at: Option<String>,
    reviewers: FirstItems<GitlabUserJson>,
    draft: Option<bool>,
    source_branch: Option<String>,
    target_branch: Option<String>,
    source_project_id: Option<u64>,
    target_project_id: Option<u64>,
    sha: Option<String>,
    references: Option<ReferencesJson>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReferencesJson {
    /// Such as `team/app#7`.
    full: Option<String>,
}

impl ItemJson {
    fn issue(self) -> Option<ForgeIssue> {
        Some(ForgeIssue {
            id: self.id.unwrap_or_default(),
            number: self.iid?,
            title: text::title(self.title),
            body: text::body(self.description),
            web_url: text::url(self.web_url),
            is_open: self.state.as_deref() != Some("closed"),
            author: self.author.and_then(GitlabUserJson::user),
            labels: labels(self.labels),
            assignees: users(self.assignees),
            updated_at: text::time(self.updated_at.as_deref()),
        })
    }

    fn pull(self) -> Option<ForgePull> {
        let number = self.iid?;
        let state = match self.state.as_deref() {
            Some("merged") => PullState::Merged,
            Some("closed") => PullState::Closed,
            _ => PullState::Open,
        };
        Some(ForgePull {
            id: self.id.unwrap_or_default(),
            number,
            title: text::title(self.title),
            body: text::body(self.description),
            web_url: text::url(self.web_url),
            state,
            is_draft: self.draft.unwrap_or(false),
            author: self.author.and_then(GitlabUserJson::user),
            labels: labels(self.labels),
            assignees: users(self.assignees),
            head_branch: text::name(self.source_branch),
            base_branch: text::name(self.target_branch),
            head_sha: text::commit(self.sha.as_deref()),
            is_fork: self.source_project_id != self.target_project_id,
            head_ref: head_ref(number),
            updated_at: text::time(self.updated_at.as_deref()),
        })
    }

    fn listed_issue(self) -> Option<ListedIssue> {
        let created_at = text::time(self.created_at.as_deref());
        let closed_at = text::time(self.closed_at.as_deref());
        Some(ListedIssue { created_at, closed_at, issue: self.issue()? })
    }

    fn listed_pull(mut self) -> Option<ListedPull> {
        let created_at = text::time(self.created_at.as_deref());
        let merged_at = text::time(self.merged_at.as_deref());
        let closed_at = merged_at.or_else(|| text::time(self.closed_at.as_deref()));
        let reviewers = users(std::mem::take(&mut self.reviewers));
        Some(ListedPull { created_at, closed_at, reviewers, pull: self.pull()? })
    }

    /// Returns the repository of an issue in a list of several repositories.
    fn address(&self) -> Option<RepositoryAddress> {
        let (name, _) = self.references.as_ref()?.full.as_deref()?.rsplit_once('#')?;
        let full_name = text::optional_name(Some(name.to_owned()))?;
        Some(RepositoryAddress { id: self.project_id?, full_name })
    }
}

/// A comment.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NoteJson {
    id: Option<u64>,
    body: Option<String>,
    author: Option<GitlabUserJson>,
    system: Option<bool>,
    position: Option<PositionJson>,
    created_at: Option<String>,
    updated_at: Option<String>,
}

impl NoteJson {
    /// Returns the comment. `None` if the forge itself wrote it.
    fn comment(self, thread: Option<String>) -> Option<ForgeComment> {
        if self.system.unwrap_or(false) {
            return None;
        }
        Some(ForgeComment {
            id: self.id?,
            body: text::body(self.body),
            author: self.author.and_then(GitlabUserJson::user),
            place: self.position.and_then(PositionJson::place),
            review_id: None,
            thread,
            web_url: String::new(),
            created_at: text::time(self.created_at.as_deref()),
            updated_at: text::time(self.updated_at.as_deref()),
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MemberJson {
    id: Option<i64>,
    access_level: Option<u32>,
    state: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GitlabJobJson {
    id: Option<u64>,
    name: Option<String>,
    allow_failure: Option<bool>,
}

fn project_path(repository: &RepositoryAddress) -> String {
    format!("projects/{}", repository.id)
}

fn subject_path(repository: &RepositoryAddress, subject: ForgeSubject) -> String {
    let list = match subject {
        ForgeSubject::Issue(_) => "issues",
        ForgeSubject::Pull(_) => "merge_requests",
    };
    format!("{}/{list}/{}", project_path(repository), subject.number())
}

/// Returns the request for issues or merge requests, the last changed ones first.
fn changed_request(
    repository: &RepositoryAddress,
    list: &str,
    scope: ListScope,
    query: &ListQuery,
) -> ApiRequest {
    let object = format!("the {} of {}", list.replace('_', " "), repository.full_name);
    let request = ApiRequest::get(&format!("{}/{list}", project_path(repository)), object);
    let request = request.with("per_page", "100").with("order_by", "updated_at");
    let state = match scope {
        ListScope::Open => "opened",
        ListScope::All => "all",
    };
    let request = request.with("sort", "desc").with("state", state);
    request.with_optional("updated_after", since_parameter(query.since))
}

/// Returns the request for the comments, the newest first.
fn notes_request(repository: &RepositoryAddress, subject: ForgeSubject) -> ApiRequest {
    let path = format!("{}/notes", subject_path(repository, subject));
    let object = format!("the comments on {subject} of {}", repository.full_name);
    let request = ApiRequest::get(&path, object).with("per_page", "100");
    request.with("order_by", "created_at").with("sort", "desc")
}

impl GitlabApi {
    pub(crate) fn new(client: ApiClient) -> Self {
        Self { client }
    }

    /// Returns the id of a user. `None` if there is no such user.
    async fn user_id(&self, user: &ForgeUser) -> ForgeResult<Option<i64>> {
        if user.id != 0 {
            return Ok(Some(user.id));
        }
        let object = format!("the user {}", user.login);
        let request = ApiRequest::get("users", object).with("username", &user.login);
        let found: Vec<GitlabUserJson> = self.client.object(&request).await?;
        let mut found = found.into_iter().filter_map(GitlabUserJson::user);
        Ok(found.find(|it| it.is_same(user)).map(|it| it.id))
    }
}

#[async_trait]
impl ForgeApi for GitlabApi {
    async fn own_account(&self) -> ForgeResult<ForgeUser> {
        let request = ApiRequest::get("user", "the account of the token");
        self.client.converted(&request, GitlabUserJson::user).await
    }

    async fn permission(
        &self,
        repository: &RepositoryAddress,
        user: &ForgeUser,
    ) -> ForgeResult<RepositoryPermission> {
        let Some(id) = self.user_id(user).await? else { return Ok(RepositoryPermission::None) };
        let path = format!("{}/members/all/{id}", project_path(repository));
        let object = format!("the permission of {} in {}", user.login, repository.full_name);
        let member: Option<MemberJson> =
            self.client.optional(&ApiRequest::get(&path, object)).await?;
        let is_active = |it: &MemberJson| {
            it.id.is_none_or(|it| it == id) && it.state.as_deref().is_none_or(|it| it == "active")
        };
        let level = member.filter(is_active).and_then(|it| it.access_level).unwrap_or(0);
        Ok(match level {
            40.. => RepositoryPermission::Admin,
            30.. => RepositoryPermission::Write,
            10.. => RepositoryPermission::Read,
            _ => RepositoryPermission::None,
        })
    }

    async fn repository(&self, repository: &RepositoryAddress) -> ForgeResult<ForgeRepository> {
        let object = format!("the project {}", repository.full_name);
        let request = ApiRequest::get(&project_path(repository), object);
        self.client.converted(&request, ProjectJson::repository).await
    }

    async fn repository_named(&self, full_name: &str) -> ForgeResult<ForgeRepository> {
        let request = ApiRequest::get("projects", format!("the project {full_name}"));
        self.client.converted(&request.below(full_name), ProjectJson::repository).await
    }

    async fn issue(&self, repository: &RepositoryAddress, number: u64) -> ForgeResult<ForgeIssue> {
        let subject = ForgeSubject::Issue(number);
        let object = format!("{subject} of {}", repository.full_name);
        let request = ApiRequest::get(&subject_path(repository, subject), object);
        self.client.converted(&request, ItemJson::issue).await
    }

    async fn comments(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        since: Option<Timestamp>,
    ) -> ForgeResult<Vec<ForgeComment>> {
        let notes: Vec<NoteJson> = self.client.all(&notes_request(repository, subject)).await?;
        let comments = notes.into_iter().rev().filter_map(|note| note.comment(None));
        let is_new = |it: &ForgeComment| since.is_none_or(|since| it.updated_at >= Some(since));
        Ok(comments.filter(|comment| comment.place.is_none() && is_new(comment)).collect())
    }

    async fn pull(&self, repository: &RepositoryAddress, number: u64) -> ForgeResult<ForgePull> {
        let subject = ForgeSubject::Pull(number);
        let object = format!("{subject} of {}", repository.full_name);
        let request = ApiRequest::get(&subject_path(repository, subject), object);
        self.client.converted(&request, ItemJson::pull).await
    }

    async fn reviews(
        &self,
        repository: &RepositoryAddress,
        number: u64,
        since: Option<Timestamp>,
    ) -> ForgeResult<Vec<ForgeReview>> {
        reviews::of_pull(&self.client, repository, number, since).await
    }

    async fn assigned_issues(&self, query: &ListQuery) -> ForgeResult<ListPage<AssignedIssue>> {
        let request = ApiRequest::get("issues", "the assigned issues").with("per_page", "100");
        let request = request.with("scope", "assigned_to_me").with("state", "all");
        let request = request.with("order_by", "updated_at").with("sort", "asc");
        let request = request.with_optional("updated_after", since_parameter(query.since));
        let assigned = |item: ItemJson| {
            Some(AssignedIssue { repository: item.address()?, issue: item.issue()? })
        };
        self.client.listed(&request, query, assigned).await
    }

    async fn changed_issues(
        &self,
        repository: &RepositoryAddress,
        scope: ListScope,
        query: &ListQuery,
    ) -> ForgeResult<ListPage<ListedIssue>> {
        let request = changed_request(repository, "issues", scope, query);
        self.client.listed(&request, query, ItemJson::listed_issue).await
    }

    async fn changed_pulls(
        &self,
        repository: &RepositoryAddress,
        scope: ListScope,
        query: &ListQuery,
    ) -> ForgeResult<ListPage<ListedPull>> {
        let request = changed_request(repository, "merge_requests", scope, query);
        self.client.listed(&request, query, ItemJson::listed_pull).await
    }

    async fn finished_runs(
        &self,
        repository: &RepositoryAddress,
        branch: &str,
    ) -> ForgeResult<Vec<ListedRun>> {
        changes::pipelines(&self.client, repository, branch).await
    }

    async fn author_of_change(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        change: &SubjectChange,
        since: Option<Timestamp>,
    ) -> ForgeResult<Option<ForgeUser>> {
        changes::author(&self.client, (repository, subject), change, since).await
    }

    async fn failed_log(
        &self,
        repository: &RepositoryAddress,
        run: &CiRun,
        bytes: usize,
    ) -> ForgeResult<Option<CiLog>> {
        let CiLogSource::Run(id) = run.log else { return Ok(None) };
        let (path, name) = (project_path(repository), &repository.full_name);
        let jobs = format!("{path}/pipelines/{id}/jobs");
        let request = ApiRequest::get(&jobs, format!("the jobs of pipeline {id} of {name}"));
        let request = request.with("scope[]", "failed").with("per_page", "100");
        let jobs: Option<Vec<GitlabJobJson>> = self.client.optional(&request).await?;
        let mut failed = jobs.unwrap_or_default();
        failed.retain(|job| !job.allow_failure.unwrap_or(false));
        let other_failed_jobs = failed.len().saturating_sub(1);
        let Some(job) = failed.into_iter().next() else { return Ok(None) };
        let Some(job_id) = job.id else { return Ok(None) };
        let log = format!("{path}/jobs/{job_id}/trace");
        let request = ApiRequest::get(&log, format!("the log of CI job {job_id} of {name}"));
        let job = (text::name(job.name), other_failed_jobs);
        logs::tail(&self.client, &request.leaving(), bytes, job).await
    }

    async fn post_comment(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        body: &str,
    ) -> ForgeResult<ForgeComment> {
        let path = format!("{}/notes", subject_path(repository, subject));
        let object = format!("a new comment on {subject} of {}", repository.full_name);
        let request = ApiRequest::post(&path, object, &json!({ "body": body }));
        self.client.converted(&request, |note: NoteJson| note.comment(None)).await
    }

    /// Looks at the newest comments first, and stops at the first one that is too old.
    async fn find_comment(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        search: &CommentSearch<'_>,
    ) -> ForgeResult<Option<ForgeComment>> {
        let each = |notes: Vec<NoteJson>| {
            for comment in notes.into_iter().filter_map(|note| note.comment(None)) {
                if is_found(&comment, search) {
                    return ControlFlow::Break(Some(comment));
                }
                if search.since.is_some_and(|since| comment.created_at.is_some_and(|it| it < since))
                {
                    return ControlFlow::Break(None);
                }
            }
            ControlFlow::Continue(())
        };
        Ok(self.client.each_page(&notes_request(repository, subject), each).await?.flatten())
    }

    async fn closed_by(
        &self,
        repository: &RepositoryAddress,
        number: u64,
    ) -> ForgeResult<Vec<u64>> {
        let subject = ForgeSubject::Pull(number);
        let path = format!("{}/closes_issues", subject_path(repository, subject));
        let object = format!("the issues that {subject} of {} closes", repository.full_name);
        let request = ApiRequest::get(&path, object).with("per_page", "100");
        let issues: Vec<ItemJson> = self.client.object(&request).await?;
        let here = issues.into_iter().filter(|it| it.project_id == Some(repository.id));
        Ok(here.filter_map(|issue| issue.iid).collect())
    }
}
