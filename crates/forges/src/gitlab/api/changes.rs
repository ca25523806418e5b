//! Who changed an issue or a merge request, and pipelines of a branch.

use jiff::Timestamp;
use segue_core::model::{
    CiLogSource, ForgeSubject, ForgeUser, ListedRun, RepositoryAddress, SubjectChange,
};
use segue_core::ports::ForgeResult;
use serde::Deserialize;

use super::super::objects::GitlabUserJson;
use super::{NoteJson, notes_request, project_path, subject_path};
use crate::client::{ApiClient, ApiRequest};
use crate::shared::history::newest_of_each_name;
use crate::shared::list::FirstItems;
use crate::shared::payload::CiReport;
use crate::shared::text;

/// A change of the labels or of the state.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResourceEventJson {
    user: Option<GitlabUserJson>,
    created_at: Option<String>,
    action: Option<String>,
    label: Option<GitlabEventLabelJson>,
    state: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GitlabEventLabelJson {
    name: Option<String>,
}

impl ResourceEventJson {
    fn is_of(&self, change: &SubjectChange) -> bool {
        let (action, state) = (self.action.as_deref(), self.state.as_deref());
        match change {
            SubjectChange::Labeled(label) => {
                let name = self.label.as_ref().and_then(|label| label.name.clone());
                action == Some("add") && text::optional_name(name).as_ref() == Some(label)
            }
            SubjectChange::Closed => matches!(state, Some("closed" | "merged")),
            SubjectChange::Reopened => state == Some("reopened"),
            SubjectChange::Assigned(_) | SubjectChange::ReviewRequested(_) => false,
        }
    }
}

/// Returns the user who last made a change.
pub(super) async fn author(
    client: &ApiClient,
    (repository, subject): (&RepositoryAddress, ForgeSubject),
    change: &SubjectChange,
    since: Option<Timestamp>,
) -> ForgeResult<Option<ForgeUser>> {
    let list = match change {
        SubjectChange::Labeled(_) => "resource_label_events",
        SubjectChange::Closed | SubjectChange::Reopened => "resource_state_events",
        SubjectChange::Assigned(user) => {
            return remark(client, (repository, subject), ("assigned to", user), since).await;
        }
        SubjectChange::ReviewRequested(user) => {
            let text = "requested review from";
            return remark(client, (repository, subject), (text, user), since).await;
        }
    };
    let path = format!("{}/{list}", subject_path(repository, subject));
    let object = format!("the history of {subject} of {}", repository.full_name);
    let request = ApiRequest::get(&path, object).with("per_page", "100");
    let events: Vec<ResourceEventJson> = client.all(&request).await?;
    let at = |event: &ResourceEventJson| text::time(event.created_at.as_deref());
    let is_meant =
        |event: &ResourceEventJson| event.is_of(change) && (since.is_none() || at(event) >= since);
    let newest = events.into_iter().filter(is_meant).max_by_key(at);
    Ok(newest.and_then(|event| event.user).and_then(GitlabUserJson::user))
}

/// Returns the author of the newest remark of GitLab itself that begins with a text and names a user.
/// The API has no other record of assignments and of requests for reviews.
async fn remark(
    client: &ApiClient,
    (repository, subject): (&RepositoryAddress, ForgeSubject),
    (beginning, user): (&str, &ForgeUser),
    since: Option<Timestamp>,
) -> ForgeResult<Option<ForgeUser>> {
    let notes: Vec<NoteJson> = client.all(&notes_request(repository, subject)).await?;
    let mention = format!("@{}", user.login);
    let is_meant = |note: &NoteJson| {
        let body = note.body.as_deref().unwrap_or_default();
        let is_named = body.split([' ', ',']).any(|word| word == mention);
        let at = text::time(note.created_at.as_deref());
        let is_own = note.system.unwrap_or(false);
        is_own && body.starts_with(beginning) && is_named && (since.is_none() || at >= since)
    };
    let newest = notes.into_iter().find(is_meant);
    Ok(newest.and_then(|note| note.author).and_then(GitlabUserJson::user))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PipelineJson {
    id: Option<u64>,
    name: Option<String>,
    sha: Option<String>,
    status: Option<String>,
    web_url: Option<String>,
    updated_at: Option<String>,
}

/// Returns the newest finished pipeline of each name for a branch.
pub(super) async fn pipelines(
    client: &ApiClient,
    repository: &RepositoryAddress,
    branch: &str,
) -> ForgeResult<Vec<ListedRun>> {
    let path = format!("{}/pipelines", project_path(repository));
    let object = format!("the pipelines of branch {branch} of {}", repository.full_name);
    let request = ApiRequest::get(&path, object).with("ref", branch).with("per_page", "50");
    let request = request.with("order_by", "updated_at").with("sort", "desc");
    let found: Option<FirstItems<PipelineJson>> = client.optional(&request).await?;
    let run = |pipeline: PipelineJson| {
        let report = CiReport {
            name: pipeline.name.or_else(|| Some("pipeline".to_owned())),
            sha: pipeline.sha,
            branch: Some(branch.to_owned()),
            conclusion: pipeline.status.unwrap_or_default(),
            detail: None,
            log: pipeline.id.map_or(CiLogSource::None, CiLogSource::Run),
            pulls: Vec::new(),
            web_url: pipeline.web_url,
            updated_at: pipeline.updated_at,
        };
        report.run()
    };
    let runs = found.unwrap_or_default().0.into_iter().filter_map(run).collect();
    Ok(newest_of_each_name(runs))
}
