//! Deliveries of Gitea and Forgejo.

use segue_core::model::{
    ForgeIssue, ForgePull, ForgeRepository, ForgeSubject, ForgeUser, PullState, ReviewVerdict,
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
    let of_issue = |action: &str| {
        let issue = issue(&served.issues[&subject.number()]);
        json!({
            "action": action, "number": subject.number(), "issue": issue,
            "repository": repository, "sender": sender,
        })
    };
    let of_pull = |action: &str| {
        let pull = pull(&served.pulls[&subject.number()], &served.repository);
        json!({
            "action": action, "number": subject.number(), "pull_request": pull,
            "repository": repository, "sender": sender,
        })
    };
    let of = |event, exact, body| DeliveredBody { event, exact, body };
    match event {
        ServedEvent::Assigned => {
            let body = changed(recordings::GITEA_ASSIGNED, of_issue("assigned"));
            of("issues", "issue_assign", body)
        }
        ServedEvent::Closed => {
            of("issues", "issues", changed(recordings::GITEA_ASSIGNED, of_issue("closed")))
        }
        ServedEvent::Reopened => {
            of("issues", "issues", changed(recordings::GITEA_ASSIGNED, of_issue("reopened")))
        }
        ServedEvent::Commented(comment) => {
            let mut changes = of_issue("created");
            changes["comment"] = json!({
                "id": comment.id, "body": comment.body, "html_url": comment.web_url,
                "user": comment.author.as_ref().map(user), "created_at": comment.created_at,
                "updated_at": comment.updated_at,
            });
            of("issue_comment", "issue_comment", changed(recordings::GITEA_COMMENT, changes))
        }
        ServedEvent::Reviewed(review) => {
            let (event, exact) = match review.verdict {
                ReviewVerdict::Approved => {
                    ("pull_request_approved", "pull_request_review_approved")
                }
                ReviewVerdict::ChangesRequested => {
                    ("pull_request_rejected", "pull_request_review_rejected")
                }
                _ => ("pull_request_comment", "pull_request_review_comment"),
            };
            // These forges send neither the id of a review nor its comments.
            let mut changes = of_pull("reviewed");
            changes["review"] = json!({ "type": exact, "content": review.body });
            of(event, exact, changed(recordings::GITEA_REVIEW, changes))
        }
        ServedEvent::Merged => {
            let body = changed(recordings::FORGEJO_MERGED, of_pull("closed"));
            of("pull_request", "pull_request", body)
        }
        ServedEvent::CiFailed { run } if is_forgejo => {
            let body = action_run(&served.pulls[&subject.number()], run, (repository, sender));
            of("action_run_failure", "action_run_failure", body)
        }
        ServedEvent::CiFailed { run } => {
            let body = workflow_run(&served.pulls[&subject.number()], run, (repository, sender));
            of("workflow_run", "workflow_run", body)
        }
    }
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
