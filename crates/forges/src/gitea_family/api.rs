//! What is special in the API of Gitea and Forgejo.

use async_trait::async_trait;
use jiff::Timestamp;
use segue_core::model::{
    CommentPlace, DiffSide, ForgeComment, ForgePull, ForgeReview, ListedRun, MAX_LIST_ITEMS,
    RepositoryAddress, ReviewVerdict,
};
use segue_core::ports::ForgeResult;
use serde::Deserialize;

use crate::client::{ApiClient, ApiRequest, repository_path};
use crate::shared::payload::{ReviewJson, UserJson};
use crate::shared::rest::{HubDialect, since_parameter};
use crate::shared::text;

/// The most reviews whose comments are requested, the newest ones. Each takes a request.
const MAX_REVIEWS_WITH_COMMENTS: usize = 50;

#[derive(Clone, Copy, Debug)]
pub(crate) struct GiteaDialect;

/// A comment on a line. Zero stands for no line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GiteaLineJson {
    id: Option<u64>,
    body: Option<String>,
    user: Option<UserJson>,
    html_url: Option<String>,
    path: Option<String>,
    /// The line of the new file.
    position: Option<u32>,
    /// The line of the old file.
    original_position: Option<u32>,
    pull_request_review_id: Option<u64>,
    created_at: Option<String>,
    updated_at: Option<String>,
}

impl GiteaLineJson {
    fn comment(self) -> Option<ForgeComment> {
        let new = self.position.filter(|line| *line > 0);
        let old = self.original_position.filter(|line| *line > 0);
        let side = if new.is_none() && old.is_some() { DiffSide::Old } else { DiffSide::New };
        let place = text::optional_name(self.path);
        let place =
            place.map(|path| CommentPlace { path, line: new.or(old), start_line: None, side });
        Some(ForgeComment {
            id: self.id?,
            body: text::body(self.body),
            author: self.user.and_then(UserJson::user),
            place,
            review_id: self.pull_request_review_id,
            thread: None,
            web_url: text::url(self.html_url),
            created_at: text::time(self.created_at.as_deref()),
            updated_at: text::time(self.updated_at.as_deref()),
        })
    }
}

#[async_trait]
impl HubDialect for GiteaDialect {
    fn paged(&self, request: ApiRequest) -> ApiRequest {
        request.with("limit", "50")
    }

    fn assigned(&self, since: Option<Timestamp>) -> ApiRequest {
        let request = ApiRequest::get("repos/issues/search", "the assigned issues");
        let request = request.with("assigned", "true").with("type", "issues").with("state", "all");
        request.with_optional("since", since_parameter(since))
    }

    fn changed_issues(&self, path: &str, since: Option<Timestamp>) -> ApiRequest {
        let request = ApiRequest::get(&format!("{path}/issues"), "the issues of the repository");
        request.with("type", "issues").with_optional("since", since_parameter(since))
    }

    fn changed_pulls(&self, path: &str) -> ApiRequest {
        let object = "the pull requests of the repository";
        ApiRequest::get(&format!("{path}/pulls"), object).with("sort", "recentupdate")
    }

    fn history(&self) -> &'static str {
        "timeline"
    }

    /// Workflows set statuses of commits here, too, and the API finds runs by their ids only.
    async fn workflow_runs(
        &self,
        _client: &ApiClient,
        _repository: &RepositoryAddress,
        _branch: &str,
    ) -> ForgeResult<Vec<ListedRun>> {
        Ok(Vec::new())
    }

    fn closing_text(&self, pull: &ForgePull) -> String {
        format!("{}\n{}", pull.title, pull.body)
    }

    async fn reviews(
        &self,
        client: &ApiClient,
        repository: &RepositoryAddress,
        number: u64,
    ) -> ForgeResult<Vec<ForgeReview>> {
        let path = format!("{}/pulls/{number}/reviews", repository_path(repository));
        let object = format!("the reviews of pull request #{number} of {}", repository.full_name);
        let request = self.paged(ApiRequest::get(&path, object.clone()));
        let all: Vec<ReviewJson> = client.all(&request).await?;
        let without_comments = all.len().saturating_sub(MAX_REVIEWS_WITH_COMMENTS);
        let mut reviews = Vec::new();
        for (index, json) in all.into_iter().enumerate() {
            let has_comments = json.comments_count.unwrap_or(0) > 0 && index >= without_comments;
            let Some(mut review) = json.review() else { continue };
            if review.verdict == ReviewVerdict::Pending {
                continue;
            }
            if let Some(id) = review.id.filter(|_| has_comments) {
                let request = ApiRequest::get(&format!("{path}/{id}/comments"), object.clone());
                let comments: Vec<GiteaLineJson> = client.object(&request).await?;
                let comments = comments.into_iter().filter_map(GiteaLineJson::comment);
                review.comments = comments.take(MAX_LIST_ITEMS).collect();
            }
            reviews.push(review);
        }
        Ok(reviews)
    }
}
