//! Deliveries of Gitea and Forgejo.

use segue_core::model::{
    ForgeComment, ForgeIssue, ForgePull, ForgeRepository, ForgeSubject, ForgeUser, PullState,
    ReviewVerdict,
};
use serde_json::{Value, json};

use super::super::state::ServedForge;
use super::recordings::{self, changed};
use super::{DeliveredBody, ServedEvent};

pub(super) fn delivery(
    forge: &mut ServedForge,
    (repository, subject): (&str, ForgeSubject),
    (event, actor): (ServedEvent<'_>, &str),
    is_forgejo: bool,
) -> DeliveredBody {
    let sender = user(&forge.user(actor));
    let served = forge.repository(repository);
    let repository = repository_json(&served.repository);
    let mut fields = json!({
        "number": subject.number(), "repository": repository, "sender": sender,
    });
    match subject {
        ForgeSubject::Issue(number) => fields["issue"] = issue(&served.issues[&number]),
        ForgeSubject::Pull(number) => {
            fields["pull_request"] = pull(&served.pulls[&number], &served.repository);
        }
    }
    let (names, recording, action) = match event {
        ServedEvent::Assigned => {
            (("issues", "issue_assign"), recordings::GITEA_ASSIGNED, "assigned")
        }
        ServedEvent::Closed => (("issues", "issues"), recordings::GITEA_ASSIGNED, "closed"),
        ServedEvent::Reopened => (("issues", "issues"), recordings::GITEA_ASSIGNED, "reopened"),
        ServedEvent::Commented(comment) => {
            fields["comment"] = comment_json(comment);
            (("issue_comment", "issue_comment"), recordings::GITEA_COMMENT, "created")
        }
        ServedEvent::Reviewed(review) => {
            let names = review_names(review.verdict);
            // These forges send neither the id of a review nor its comments.
            fields["review"] = json!({ "type": names.1, "content": review.body });
            (names, recordings::GITEA_REVIEW, "reviewed")
        }
        ServedEvent::Merged => {
            (("pull_request", "pull_request"), recordings::FORGEJO_MERGED, "closed")
        }
        ServedEvent::CiFailed { run } => {
            let pull = &served.pulls[&subject.number()];
            return ci_delivery(pull, run, (repository, sender), is_forgejo);
        }
    };
    fields["action"] = action.into();
    let (event, exact) = names;
    DeliveredBody { event, exact, body: changed(recording, fields) }
}

/// Returns the two names of the event of a review.
fn review_names(verdict: ReviewVerdict) -> (&'static str, &'static str) {
    match verdict {
        ReviewVerdict::Approved => ("pull_request_approved", "pull_request_review_approved"),
        ReviewVerdict::ChangesRequested => {
            ("pull_request_rejected", "pull_request_review_rejected")
        }
        _ => ("pull_request_comment", "pull_request_review_comment"),
    }
}

/// Returns the delivery of a failed run, of which no recording exists.
fn ci_delivery(pull: &ForgePull, run: u64, of: (Value, Value), is_forgejo: bool) -> DeliveredBody {
    let (event, body) = match is_forgejo {
        true => ("action_run_failure", action_run(pull, run, of)),
        false => ("workflow_run", workflow_run(pull, run, of)),
    };
    DeliveredBody { event, exact: event, body }
}

/// Returns the delivery of Gitea about a failed run.
fn workflow_run(pull: &ForgePull, run: u64, (repository, sender): (Value, Value)) -> Value {
    let run = json!({
        "id": run, "display_title": pull.title, "path": "tests.yml@refs/heads/main", "event": "push",
        "run_number": 1, "head_branch": pull.head_branch, "head_sha": pull.head_sha,
        "status": "completed", "conclusion": "failure", "started_at": pull.updated_at,
        "completed_at": pull.updated_at, "pull_requests": null,
    });
    json!({
        "action": "completed", "workflow": null, "workflow_run": run, "repository": repository,
        "sender": sender,
    })
}

/// Returns the delivery of Forgejo about a failed run, whose repository and user are in the run.
fn action_run(pull: &ForgePull, run: u64, (repository, sender): (Value, Value)) -> Value {
    let run = json!({
        "id": run, "title": pull.title, "repository": repository, "workflow_id": "tests.yml",
        "index_in_repo": 1, "trigger_user": sender, "prettyref": pull.head_branch,
        "commit_sha": pull.head_sha, "event": "push", "status": "failure",
        "updated": pull.updated_at,
    });
    json!({ "action": "failure", "run": run, "prior_status": "running", "last_run": null })
}

fn user(user: &ForgeUser) -> Value {
    json!({ "id": user.id, "login": user.login, "username": user.login })
}

fn comment_json(comment: &ForgeComment) -> Value {
    json!({
        "id": comment.id, "body": comment.body, "html_url": comment.web_url,
        "user": comment.author.as_ref().map(user), "created_at": comment.created_at,
        "updated_at": comment.updated_at,
    })
}

fn repository_json(repository: &ForgeRepository) -> Value {
    json!({
        "id": repository.id,
        "full_name": repository.full_name,
        "html_url": repository.web_url,
        "clone_url": repository.clone_url.as_ref().map(|it| it.as_str()),
        "default_branch": repository.default_branch,
    })
}

fn issue(issue: &ForgeIssue) -> Value {
    let assignees: Vec<Value> = issue.assignees.iter().map(user).collect();
    json!({
        "id": issue.id,
        "number": issue.number,
        "title": issue.title,
        "body": issue.body,
        "html_url": issue.web_url,
        "state": if issue.is_open { "open" } else { "closed" },
        "user": issue.author.as_ref().map(user),
        "labels": issue.labels.iter().map(|name| json!({ "name": name })).collect::<Value>(),
        "assignee": assignees.first(),
        "assignees": assignees,
        "updated_at": issue.updated_at,
    })
}

fn pull(pull: &ForgePull, base: &ForgeRepository) -> Value {
    json!({
        "id": pull.id,
        "number": pull.number,
        "title": pull.title,
        "body": pull.body,
        "html_url": pull.web_url,
        "state": if pull.state == PullState::Open { "open" } else { "closed" },
        "merged": pull.state == PullState::Merged,
        "user": pull.author.as_ref().map(user),
        "head": { "ref": pull.head_branch, "sha": pull.head_sha, "repo": repository_json(base) },
        "base": { "ref": pull.base_branch, "repo": repository_json(base) },
        "updated_at": pull.updated_at,
    })
}
