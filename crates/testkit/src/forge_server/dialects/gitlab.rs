//! Deliveries of GitLab.

use jiff::Timestamp;
use segue_core::model::{
    ForgeComment, ForgeIssue, ForgePull, ForgeRepository, ForgeReview, ForgeSubject, ForgeUser,
    PullState, ReviewVerdict,
};
use serde_json::{Value, json};

use super::super::state::ServedForge;
use super::recordings::{self, changed};
use super::{DeliveredBody, ServedEvent};

pub(super) fn delivery(
    forge: &mut ServedForge,
    (repository, subject): (&str, ForgeSubject),
    (event, actor): (ServedEvent<'_>, &str),
) -> DeliveredBody {
    let (account, actor) = (forge.account.clone(), forge.user(actor));
    let served = forge.repository(repository);
    let by = json!({ "user": user(&actor), "project": project(&served.repository) });
    let found = || &served.issues[&subject.number()];
    let found_pull = || &served.pulls[&subject.number()];
    let body = match event {
        ServedEvent::Assigned => {
            let mut body = issue_hook(found(), "update", by);
            body["changes"]["assignees"] = json!({ "previous": [], "current": [user(&account)] });
            body
        }
        ServedEvent::Closed => issue_hook(found(), "close", by),
        ServedEvent::Reopened => issue_hook(found(), "reopen", by),
        ServedEvent::Commented(comment) => note_hook(found(), comment, by),
        ServedEvent::Reviewed(review) => review_hook(found_pull(), review, by),
        ServedEvent::Merged => {
            changed(recordings::GITLAB_MERGED, with(by, pull(found_pull(), "merge")))
        }
        ServedEvent::CiFailed { run } => pipeline_hook(found_pull(), run, by),
    };
    let event = match event {
        ServedEvent::Assigned | ServedEvent::Closed | ServedEvent::Reopened => "Issue Hook",
        ServedEvent::Commented(_) => "Note Hook",
        ServedEvent::Reviewed(_) | ServedEvent::Merged => "Merge Request Hook",
        ServedEvent::CiFailed { .. } => "Pipeline Hook",
    };
    DeliveredBody { event, exact: event, body }
}

/// Returns the delivery of an event about an issue, of which no recording exists.
fn issue_hook(issue: &ForgeIssue, action: &str, by: Value) -> Value {
    let assignees: Vec<Value> = issue.assignees.iter().map(user).collect();
    let mut attributes = issue_attributes(issue);
    attributes["action"] = action.into();
    let fields = json!({
        "object_kind": "issue", "event_type": "issue", "object_attributes": attributes,
        "labels": [], "assignees": assignees,
        "changes": { "updated_at": { "previous": null, "current": time(issue.updated_at) } },
    });
    with(by, fields)
}

fn note_hook(issue: &ForgeIssue, comment: &ForgeComment, by: Value) -> Value {
    let note = json!({
        "id": comment.id, "note": comment.body, "description": comment.body,
        "author_id": comment.author.as_ref().map(|it| it.id), "noteable_id": issue.id,
        "created_at": time(comment.created_at), "updated_at": time(comment.updated_at),
        "url": comment.web_url,
    });
    let fields = json!({ "object_attributes": note, "issue": issue_attributes(issue) });
    changed(recordings::GITLAB_NOTE, with(by, fields))
}

/// Returns the delivery of a review. An approval is an action of its own, a request for changes is a
/// changed state of the reviewer. Comments on lines have deliveries of their own.
fn review_hook(found: &ForgePull, review: &ForgeReview, by: Value) -> Value {
    if review.verdict == ReviewVerdict::Approved {
        return changed(recordings::GITLAB_MERGED, with(by, pull(found, "approved")));
    }
    let reviewer = |state: &str| {
        let mut reviewer = review.author.as_ref().map(user).unwrap_or_default();
        reviewer["state"] = state.into();
        reviewer["re_requested"] = false.into();
        json!([reviewer])
    };
    let mut fields = with(by, pull(found, "update"));
    fields["reviewers"] = reviewer("requested_changes");
    fields["changes"] = json!({ "reviewers": {
        "previous": reviewer("unreviewed"), "current": reviewer("requested_changes"),
    } });
    changed(recordings::GITLAB_REVIEWERS, fields)
}

fn pipeline_hook(found: &ForgePull, run: u64, by: Value) -> Value {
    let pipeline = json!({
        "id": run, "ref": found.head_branch, "sha": found.head_sha, "status": "failed",
        "detailed_status": "failed", "finished_at": time(found.updated_at),
    });
    let mut fields = with(by, json!({ "object_attributes": pipeline }));
    fields["merge_request"] = pull_attributes(found);
    changed(recordings::GITLAB_PIPELINE, fields)
}

/// Returns an object with the fields of two objects.
fn with(mut object: Value, fields: Value) -> Value {
    if let Value::Object(fields) = fields {
        fields.into_iter().for_each(|(name, value)| object[name] = value);
    }
    object
}

fn user(user: &ForgeUser) -> Value {
    json!({ "id": user.id, "username": user.login, "name": user.login })
}

fn project(repository: &ForgeRepository) -> Value {
    let url = repository.clone_url.as_ref().map(|it| it.as_str());
    json!({
        "id": repository.id, "path_with_namespace": repository.full_name,
        "web_url": repository.web_url, "git_http_url": url, "http_url": url,
        "default_branch": repository.default_branch,
    })
}

fn issue_attributes(issue: &ForgeIssue) -> Value {
    json!({
        "id": issue.id, "iid": issue.number, "title": issue.title, "description": issue.body,
        "url": issue.web_url, "state": if issue.is_open { "opened" } else { "closed" },
        "author_id": issue.author.as_ref().map(|it| it.id), "labels": [],
        "updated_at": time(issue.updated_at),
    })
}

fn pull(found: &ForgePull, action: &str) -> Value {
    let mut attributes = pull_attributes(found);
    attributes["action"] = action.into();
    json!({ "object_attributes": attributes, "labels": [], "assignees": [] })
}

fn pull_attributes(pull: &ForgePull) -> Value {
    let state = match pull.state {
        PullState::Open => "opened",
        PullState::Closed => "closed",
        PullState::Merged => "merged",
    };
    json!({
        "id": pull.id, "iid": pull.number, "title": pull.title, "description": pull.body,
        "url": pull.web_url, "state": state, "draft": false, "labels": [],
        "source_branch": pull.head_branch, "target_branch": pull.base_branch,
        "source_project_id": 1, "target_project_id": 1, "last_commit": { "id": pull.head_sha },
        "updated_at": time(pull.updated_at),
    })
}

/// Writes a time as deliveries of GitLab have it.
fn time(time: Option<Timestamp>) -> Option<String> {
    time.map(|time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}
