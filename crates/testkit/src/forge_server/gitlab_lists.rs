//! Lists of GitLab's API: issues, merge requests, histories and pipelines.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::ServedRequest;
use super::answers::ServedAnswer;
use super::gitlab::{issue, page, pull, user};
use super::state::{ServedChange, ServedRepository, ServedRun};

/// Lists issues or merge requests.
pub(super) fn list(
    repository: &ServedRepository,
    request: &ServedRequest,
    list: &str,
    items: usize,
) -> ServedAnswer {
    let since: Option<Timestamp> =
        request.parameter("updated_after").and_then(|it| it.parse().ok());
    let objects: Vec<(Option<Timestamp>, u64, Value)> = match list {
        "issues" => {
            let all = repository.issues.values();
            all.map(|it| (it.updated_at, it.number, issue(it, repository))).collect()
        }
        _ => {
            let (all, id) = (repository.pulls.values(), repository.repository.id);
            all.map(|it| (it.updated_at, it.number, pull(it, id))).collect()
        }
    };
    let is_all = request.parameter("state") == Some("all");
    let mut all = Vec::new();
    for (updated_at, number, mut value) in objects {
        let reviewers = repository.reviewers.get(&number).into_iter().flatten();
        value["reviewers"] = reviewers.map(user).collect();
        value["created_at"] = json!(repository.created.get(&number));
        value["closed_at"] = json!(repository.closed.get(&number));
        let is_new = since.is_none_or(|since| updated_at >= Some(since));
        if is_new && (is_all || value["state"] == "opened") {
            all.push((updated_at, value));
        }
    }
    all.sort_by_key(|(updated_at, _)| std::cmp::Reverse(*updated_at));
    page(request, all.into_iter().map(|(_, value)| value).collect(), items)
}

/// Answers with the changes of labels or states.
pub(super) fn history(repository: &ServedRepository, number: u64, list: &str) -> ServedAnswer {
    let is_of_labels = list == "resource_label_events";
    let entry = |it: &ServedChange| match is_of_labels {
        true => json!({
            "user": user(&it.by), "created_at": it.at, "action": "add",
            "label": { "name": it.name },
        }),
        false => json!({ "user": user(&it.by), "created_at": it.at, "state": it.word }),
    };
    let is_meant = |it: &&ServedChange| {
        it.number == number
            && it.word != "review_requested"
            && (it.word == "labeled") == is_of_labels
    };
    let own = repository.history.iter().filter(is_meant);
    ServedAnswer::json(&own.map(entry).collect())
}

/// Returns GitLab's own remarks about requests for reviews.
pub(super) fn remarks(repository: &ServedRepository, number: u64) -> Vec<Value> {
    let is_meant = |it: &&ServedChange| it.number == number && it.word == "review_requested";
    let remark = |it: &ServedChange| {
        let body = format!("requested review from @{}", it.name);
        let author = user(&it.by);
        json!({ "id": 2, "body": body, "system": true, "author": author, "created_at": it.at })
    };
    repository.history.iter().filter(is_meant).map(remark).collect()
}

/// Answers with the pipelines of a branch.
pub(super) fn pipelines(repository: &ServedRepository, request: &ServedRequest) -> ServedAnswer {
    let branch = request.parameter("ref").unwrap_or_default();
    let pipeline = |it: &ServedRun| {
        let status = if it.has_failed { "failed" } else { "success" };
        json!({ "id": it.id, "name": it.name, "status": status, "updated_at": it.at })
    };
    let own = repository.runs.iter().rev().filter(|it| it.branch == branch);
    ServedAnswer::json(&own.map(pipeline).collect())
}
