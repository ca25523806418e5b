//! What is special in the API of GitHub.

use std::collections::BTreeMap;

use async_trait::async_trait;
use jiff::Timestamp;
use segue_core::model::{
    CiLogSource, ForgeComment, ForgePull, ForgeReview, ListedRun, MAX_LIST_ITEMS,
    RepositoryAddress, ReviewVerdict,
};
use segue_core::ports::ForgeResult;
use serde::Deserialize;

use crate::client::{ApiClient, ApiRequest, repository_path};
use crate::shared::list::FirstItems;
use crate::shared::payload::{CiJson, CommentJson, ReviewJson};
use crate::shared::rest::{HubDialect, since_parameter};

#[derive(Clone, Copy, Debug)]
pub(crate) struct GithubDialect;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WorkflowRunsJson {
    workflow_runs: FirstItems<CiJson>,
}

#[async_trait]
impl HubDialect for GithubDialect {
    fn paged(&self, request: ApiRequest) -> ApiRequest {
        request.with("per_page", "100")
    }

    fn assigned(&self, since: Option<Timestamp>) -> ApiRequest {
        let request = ApiRequest::get("issues", "the assigned issues").with("filter", "assigned");
        let request = request.with("state", "all").with("sort", "updated").with("direction", "asc");
        request.with_optional("since", since_parameter(since))
    }

    /// The list has no parameter that changes with time, so that its ETag stays valid.
    fn changed_issues(&self, path: &str, _since: Option<Timestamp>) -> ApiRequest {
        let request = ApiRequest::get(&format!("{path}/issues"), "the issues of the repository");
        request.with("sort", "updated").with("direction", "desc")
    }

    fn changed_pulls(&self, path: &str) -> ApiRequest {
        let object = "the pull requests of the repository";
        let request = ApiRequest::get(&format!("{path}/pulls"), object);
        request.with("sort", "updated").with("direction", "desc")
    }

    fn history(&self) -> &'static str {
        "events"
    }

    async fn workflow_runs(
        &self,
        client: &ApiClient,
        repository: &RepositoryAddress,
        branch: &str,
    ) -> ForgeResult<Vec<ListedRun>> {
        let path = format!("{}/actions/runs", repository_path(repository));
        let object = format!("the CI runs of branch {branch} of {}", repository.full_name);
        let request = ApiRequest::get(&path, object).with("branch", branch);
        let request = request.with("status", "completed").with("per_page", "50");
        let found: Option<WorkflowRunsJson> = client.optional(&request).await?;
        let runs = found.unwrap_or_default().workflow_runs.0.into_iter();
        Ok(runs.filter_map(|run| run.report(CiLogSource::Run).run()).collect())
    }

    fn closing_text(&self, pull: &ForgePull) -> String {
        pull.body.clone()
    }

    /// The comments are grouped by the id of their review. GitHub may show a comment before its
    /// review: such a comment is in the next answer.
    async fn reviews(
        &self,
        client: &ApiClient,
        repository: &RepositoryAddress,
        number: u64,
    ) -> ForgeResult<Vec<ForgeReview>> {
        let pull = format!("{}/pulls/{number}", repository_path(repository));
        let object = format!("the reviews of pull request #{number} of {}", repository.full_name);
        let request = |list| self.paged(ApiRequest::get(&format!("{pull}/{list}"), object.clone()));
        let reviews: Vec<ReviewJson> = client.all(&request("reviews")).await?;
        let comments: Vec<CommentJson> = client.all(&request("comments")).await?;
        let mut by_review: BTreeMap<u64, Vec<ForgeComment>> = BTreeMap::new();
        for comment in comments.into_iter().filter_map(CommentJson::comment) {
            let list = by_review.entry(comment.review_id.unwrap_or_default()).or_default();
            if list.len() < MAX_LIST_ITEMS {
                list.push(comment);
            }
        }
        let reviews = reviews.into_iter().filter_map(ReviewJson::review);
        let submitted = reviews.filter(|review| review.verdict != ReviewVerdict::Pending);
        let with_comments = |review: ForgeReview| {
            let comments = review.id.and_then(|id| by_review.remove(&id)).unwrap_or_default();
            ForgeReview { comments, ..review }
        };
        Ok(submitted.map(with_comments).collect())
    }
}
