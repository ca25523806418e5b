//! The body of a delivery of GitLab.

use segue_core::Result;
use segue_core::model::{
    ForgeComment, ForgeEvent, ForgeIssue, ForgePull, ForgeUser, PullState, TriggerKind,
};
use serde::Deserialize;

use super::objects::{
    GitlabLabelJson, GitlabUserJson, PositionJson, ProjectJson, head_ref, labels, users,
};
use crate::shared::body::unreadable;
use crate::shared::lenient::LenientField;
use crate::shared::list::FirstItems;
use crate::shared::text;

/// The fields of all events that have a trigger.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GitlabPayload {
    user: Option<GitlabUserJson>,
    user_id: Option<i64>,
    user_username: Option<String>,
    project: Option<ProjectJson>,
    pub(super) object_attributes: Attributes,
    pub(super) changes: Option<ChangesJson>,
    labels: FirstItems<GitlabLabelJson>,
    assignees: FirstItems<GitlabUserJson>,
    issue: Option<Attributes>,
    pub(super) merge_request: Option<Attributes>,
    #[serde(rename = "ref")]
    pub(super) ref_name: Option<String>,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

/// The object of an event: an issue, a merge request, a comment or a pipeline.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Attributes {
    pub(super) id: Option<u64>,
    pub(super) iid: Option<u64>,
    title: Option<String>,
    description: Option<String>,
    pub(super) state: Option<String>,
    pub(super) action: Option<String>,
    pub(super) url: Option<String>,
    author_id: Option<i64>,
    created_at: Option<String>,
    pub(super) updated_at: Option<String>,
    pub(super) finished_at: Option<String>,
    pub(super) source_branch: Option<String>,
    target_branch: Option<String>,
    source_project_id: Option<u64>,
    target_project_id: Option<u64>,
    last_commit: Option<CommitJson>,
    pub(super) draft: Option<bool>,
    work_in_progress: Option<bool>,
    pub(super) oldrev: Option<String>,
    labels: FirstItems<GitlabLabelJson>,
    note: Option<String>,
    pub(super) noteable_type: Option<String>,
    /// A number in issues.
    position: Option<LenientField<PositionJson>>,
    discussion_id: Option<String>,
    pub(super) system: Option<bool>,
    /// The state of a pipeline. Issues have an object of the same name.
    pub(super) status: Option<LenientField<String>>,
    pub(super) sha: Option<String>,
    #[serde(rename = "ref")]
    pub(super) ref_name: Option<String>,
    pub(super) name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct CommitJson {
    id: Option<String>,
}

/// The fields that an event has changed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ChangesJson {
    pub(super) assignees: Option<ChangeJson<FirstItems<GitlabUserJson>>>,
    pub(super) labels: Option<ChangeJson<FirstItems<GitlabLabelJson>>>,
    pub(super) reviewers: Option<ReviewersJson>,
    pub(super) draft: Option<ChangeJson<Option<bool>>>,
}

/// The reviewers before and after a change.
pub(super) type ReviewersJson = ChangeJson<FirstItems<GitlabUserJson>>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ChangeJson<T> {
    pub(super) previous: T,
    pub(super) current: T,
}

impl ChangesJson {
    /// Returns the users who were assigned.
    pub(super) fn assigned(&mut self) -> Vec<ForgeUser> {
        let Some(change) = self.assignees.take() else { return Vec::new() };
        let (before, after) = (users(change.previous), users(change.current));
        after.into_iter().filter(|user| !before.iter().any(|it| it.is_same(user))).collect()
    }

    /// Returns the labels that were added.
    pub(super) fn labeled(&mut self) -> Vec<String> {
        let Some(change) = self.labels.take() else { return Vec::new() };
        let (before, after) = (labels(change.previous), labels(change.current));
        after.into_iter().filter(|label| !before.contains(label)).collect()
    }
}

impl GitlabPayload {
    /// Returns an event about the project and the user.
    pub(super) fn event(&mut self, trigger: TriggerKind) -> Result<ForgeEvent> {
        let project = self.project.take().and_then(ProjectJson::repository);
        let project = project.ok_or_else(|| missing("project"))?;
        let actor = self.actor();
        Ok(ForgeEvent { actor, ..ForgeEvent::new(trigger, project) })
    }

    /// Returns the user who caused the event. Old releases leave out the id, which a new comment
    /// has as that of its author.
    pub(super) fn actor(&mut self) -> Option<ForgeUser> {
        let named = GitlabUserJson::named(self.user_id, self.user_username.take());
        let mut user = self.user.take().unwrap_or(named);
        let is_comment = self.object_attributes.note.is_some();
        user.id = user.id.or(self.object_attributes.author_id.filter(|_| is_comment));
        user.user()
    }

    pub(super) fn has_issue(&self) -> bool {
        self.issue.is_some()
    }

    /// Takes the issue that the event or its comment is about.
    pub(super) fn take_issue(&mut self) -> Result<ForgeIssue> {
        let issue = self.issue.take().unwrap_or_else(|| self.object_attributes.clone());
        let all = std::mem::take(&mut self.labels);
        let labels = labels(if all.0.is_empty() { issue.labels } else { all });
        Ok(ForgeIssue {
            id: issue.id.unwrap_or_default(),
            number: issue.iid.ok_or_else(|| missing("iid"))?,
            title: text::title(issue.title),
            body: text::body(issue.description),
            web_url: text::url(issue.url),
            is_open: issue.state.as_deref() != Some("closed"),
            author: None,
            labels,
            assignees: users(std::mem::take(&mut self.assignees)),
            updated_at: text::time(issue.updated_at.as_deref()),
        })
    }

    /// Takes the merge request that the event or its comment is about.
    pub(super) fn take_pull(&mut self) -> Result<ForgePull> {
        let pull = self.merge_request.take().unwrap_or_else(|| self.object_attributes.clone());
        let number = pull.iid.ok_or_else(|| missing("iid"))?;
        let all = std::mem::take(&mut self.labels);
        let labels = labels(if all.0.is_empty() { pull.labels } else { all });
        let state = match pull.state.as_deref() {
            Some("merged") => PullState::Merged,
            Some("closed") => PullState::Closed,
            _ => PullState::Open,
        };
        Ok(ForgePull {
            id: pull.id.unwrap_or_default(),
            number,
            title: text::title(pull.title),
            body: text::body(pull.description),
            web_url: text::url(pull.url),
            state,
            is_draft: pull.draft.or(pull.work_in_progress).unwrap_or(false),
            author: None,
            labels,
            assignees: users(std::mem::take(&mut self.assignees)),
            head_branch: text::name(pull.source_branch),
            base_branch: text::name(pull.target_branch),
            head_sha: text::commit(pull.last_commit.and_then(|it| it.id).as_deref()),
            is_fork: pull.source_project_id != pull.target_project_id,
            head_ref: head_ref(number),
            updated_at: text::time(pull.updated_at.as_deref()),
        })
    }

    /// Returns the comment that the event is about.
    pub(super) fn comment(&self, author: Option<ForgeUser>) -> Result<ForgeComment> {
        let note = self.object_attributes.clone();
        Ok(ForgeComment {
            id: note.id.ok_or_else(|| missing("id"))?,
            body: text::body(note.note),
            author,
            place: note.position.and_then(LenientField::known).and_then(PositionJson::place),
            review_id: None,
            thread: text::optional_name(note.discussion_id),
            web_url: text::url(note.url),
            created_at: text::time(note.created_at.as_deref()),
            updated_at: text::time(note.updated_at.as_deref()),
        })
    }
}

/// Returns the error for a delivery that lacks the object of its event.
pub(super) fn missing(field: &str) -> segue_core::Error {
    unreadable(format!("the field `{field}` is missing or incomplete"))
}
