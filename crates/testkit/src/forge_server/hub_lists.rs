//! Lists of GitHub's API, and of Gitea and Forgejo: issues, pull requests, histories and CI runs.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::ServedRequest;
use super::answers::ServedAnswer;
use super::hub::{HubKind, issue, page, pull, user};
use super::state::{ServedChange, ServedRepository, ServedRun};

/// Lists issues. GitHub lists pull requests among them, and ignores no state.
pub(super) fn issues(
    repository: &ServedRepository,
    request: &ServedRequest,
    items: usize,
    kind: HubKind,
) -> ServedAnswer {
    let since: Option<Timestamp> = request.parameter("since").and_then(|it| it.parse().ok());
    let is_all = request.parameter("state") == Some("all");
    let mut all = Vec::new();
    for it in repository.issues.values().filter(|it| is_all || it.is_open) {
        if since.is_none_or(|since| it.updated_at >= Some(since)) {
            all.push((it.updated_at, dated(issue(it), repository, it.number)));
        }
    }
    if kind == HubKind::Github {
        let pulls = repository.pulls.values();
        all.extend(pulls.map(|it| {
            let value = json!({ "number": it.number, "state": "open", "pull_request": {} });
            (it.updated_at, value)
        }));
        // Gitea lists issues by the time of their creation.
        all.sort_by_key(|(updated_at, _)| std::cmp::Reverse(*updated_at));
    }
    conditional(page(request, values(all), items, kind), kind)
}

pub(super) fn pulls(
    repository: &ServedRepository,
    request: &ServedRequest,
    items: usize,
    kind: HubKind,
) -> ServedAnswer {
    let is_all = request.parameter("state") == Some("all");
    let mut all = Vec::new();
    for it in repository.pulls.values() {
        let mut value = dated(pull(it, &repository.repository), repository, it.number);
        let reviewers = repository.reviewers.get(&it.number).into_iter().flatten();
        value["requested_reviewers"] = reviewers.map(user).collect();
        if is_all || value["state"] == "open" {
            all.push((it.updated_at, value));
        }
    }
    all.sort_by_key(|(updated_at, _)| std::cmp::Reverse(*updated_at));
    conditional(page(request, values(all), items, kind), kind)
}

fn values(all: Vec<(Option<Timestamp>, Value)>) -> Vec<Value> {
    all.into_iter().map(|(_, value)| value).collect()
}

/// Only GitHub has conditional requests.
fn conditional(answer: ServedAnswer, kind: HubKind) -> ServedAnswer {
    match kind {
        HubKind::Github => answer.with_etag(),
        HubKind::Gitea => answer,
    }
}

fn dated(mut value: Value, repository: &ServedRepository, number: u64) -> Value {
    value["created_at"] = json!(repository.created.get(&number));
    value["closed_at"] = json!(repository.closed.get(&number));
    value
}

/// Answers with the history of an issue or a pull request.
pub(super) fn history(repository: &ServedRepository, number: u64, kind: HubKind) -> ServedAnswer {
    let entry = |it: &ServedChange| match kind {
        HubKind::Github => json!({
            "event": it.word, "actor": user(&it.by), "created_at": it.at,
            "label": { "name": it.name },
            "requested_reviewer": { "id": 0, "login": it.name },
        }),
        HubKind::Gitea => json!({
            "type": gitea_word(it.word), "user": user(&it.by), "created_at": it.at,
            "label": { "name": it.name },
            "assignee": { "id": 0, "login": it.name },
        }),
    };
    let own = repository.history.iter().filter(|it| it.number == number);
    ServedAnswer::json(&own.map(entry).collect())
}

fn gitea_word(word: &str) -> &str {
    match word {
        "labeled" => "label",
        "review_requested" => "review_request",
        "closed" => "close",
        "reopened" => "reopen",
        "merged" => "merge_pull",
        other => other,
    }
}

/// Answers with the finished workflow runs of a branch.
pub(super) fn runs(repository: &ServedRepository, request: &ServedRequest) -> ServedAnswer {
    let branch = request.parameter("branch").unwrap_or_default();
    let run = |it: &ServedRun| {
        json!({
            "id": it.id, "name": it.name, "head_branch": it.branch, "updated_at": it.at,
            "conclusion": if it.has_failed { "failure" } else { "success" },
        })
    };
    let own = repository.runs.iter().rev().filter(|it| it.branch == branch);
    ServedAnswer::json(&json!({ "workflow_runs": own.map(run).collect::<Value>() }))
}

/// Answers with the statuses of a branch. Only workflows of Gitea set them.
pub(super) fn statuses(repository: &ServedRepository, branch: &str, kind: HubKind) -> ServedAnswer {
    let status = |it: &ServedRun| {
        json!({
            "context": it.name, "updated_at": it.at,
            "status": if it.has_failed { "failure" } else { "success" },
        })
    };
    let is_shown = |it: &&ServedRun| kind == HubKind::Gitea && it.branch == branch;
    let own = repository.runs.iter().filter(is_shown);
    ServedAnswer::json(&json!({ "statuses": own.map(status).collect::<Value>() }))
}
