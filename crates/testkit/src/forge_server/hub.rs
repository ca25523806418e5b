//! The API of GitHub, and of Gitea and Forgejo, which have copied it.

use jiff::Timestamp;
use segue_core::model::{
    ForgeComment, ForgeIssue, ForgePull, ForgeRepository, ForgeReview, ForgeSubject, ForgeUser,
    PullState, RepositoryPermission, ReviewVerdict,
};
use serde_json::{Value, json};

use super::answers::ServedAnswer;
use super::state::{ServedForge, ServedRepository};
use super::{ServedRequest, hub_lists};

/// Which of the APIs is served.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HubKind {
    Github,
    Gitea,
}

pub(super) fn route(
    forge: &mut ServedForge,
    request: &ServedRequest,
    path: &[&str],
    kind: HubKind,
) -> ServedAnswer {
    match (kind, path) {
        (_, ["user"]) => ServedAnswer::json(&user(&forge.account)),
        (HubKind::Github, ["issues"]) => assigned(forge, request, kind).with_etag(),
        (HubKind::Gitea, ["repos", "issues", "search"]) => assigned(forge, request, kind),
        (_, ["repos", owner, name, rest @ ..]) => {
            let full_name = format!("{owner}/{name}");
            if let Some(new) = forge.renamed.get(&full_name) {
                let prefix = if kind == HubKind::Github { "v3" } else { "v1" };
                let path = format!("/api/{prefix}/repos/{new}/{}", rest.join("/"));
                let status = if request.is_post { 307 } else { 301 };
                return ServedAnswer::redirect(status, format!("http://{}{path}", request.host));
            }
            let is_there = |it: &ServedRepository| it.repository.full_name == full_name;
            match forge.repositories.iter().any(is_there) {
                true => in_repository(forge, request, (&full_name, rest), kind),
                false => ServedAnswer::not_found(),
            }
        }
        _ => ServedAnswer::not_found(),
    }
}

fn in_repository(
    forge: &mut ServedForge,
    request: &ServedRequest,
    (name, path): (&str, &[&str]),
    kind: HubKind,
) -> ServedAnswer {
    let number = path.get(1).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let items = forge.page_items;
    match path {
        [] => ServedAnswer::json(&repository_json(&forge.repository(name).repository)),
        ["collaborators", login, "permission"] => permission(forge, name, login),
        ["issues"] => hub_lists::issues(forge.repository(name), request, items, kind),
        ["pulls"] => hub_lists::pulls(forge.repository(name), request, items, kind),
        ["issues", _, "events"] if kind == HubKind::Github => {
            hub_lists::history(forge.repository(name), number, kind)
        }
        ["issues", _, "timeline"] if kind == HubKind::Gitea => {
            hub_lists::history(forge.repository(name), number, kind)
        }
        ["actions", "runs"] if kind == HubKind::Github => {
            hub_lists::runs(forge.repository(name), request)
        }
        ["commits", branch, "status"] => hub_lists::statuses(forge.repository(name), branch, kind),
        ["issues", _] => {
            ServedAnswer::optional(forge.repository(name).issues.get(&number).map(issue))
        }
        ["issues", _, "comments"] => comments(forge, request, (name, number), kind),
        ["pulls", _] => {
            let repository = forge.repository(name);
            let base = repository.repository.clone();
            ServedAnswer::optional(repository.pulls.get(&number).map(|it| pull(it, &base)))
        }
        ["pulls", _, "reviews"] => {
            let reviews = forge.repository(name).reviews.get(&number);
            let all = reviews.into_iter().flatten().map(|it| review(it, kind)).collect();
            page(request, all, items, kind)
        }
        ["pulls", _, "comments"] if kind == HubKind::Github => {
            let reviews = forge.repository(name).reviews.get(&number);
            let lines = reviews.into_iter().flatten().flat_map(|it| &it.comments);
            page(request, lines.map(|it| line_comment(it, kind)).collect(), items, kind)
        }
        ["pulls", _, "reviews", id, "comments"] if kind == HubKind::Gitea => {
            let id = id.parse().ok();
            let reviews = forge.repository(name).reviews.get(&number);
            let found = reviews.into_iter().flatten().find(|it| it.id == id);
            let lines = |it: &ForgeReview| -> Value {
                it.comments.iter().map(|it| line_comment(it, kind)).collect()
            };
            ServedAnswer::optional(found.map(lines))
        }
        ["actions", "runs", id, "jobs"] => jobs(forge, name, id),
        ["actions", "jobs", id, "logs"] if kind == HubKind::Github => {
            let port = request.host.rsplit(':').next().unwrap_or_default();
            // Another host name, as GitHub stores logs on another server.
            ServedAnswer::redirect(302, format!("http://localhost:{port}/storage/logs/{id}"))
        }
        ["actions", "jobs", id, "logs"] => forge.log(id),
        ["check-suites", id, "check-runs"] => checks(forge, name, id),
        _ => ServedAnswer::not_found(),
    }
}

fn permission(forge: &mut ServedForge, name: &str, login: &str) -> ServedAnswer {
    let found = forge.users.iter().find(|user| user.login == login).cloned();
    let Some(found) = found else { return ServedAnswer::not_found() };
    let permission = forge.repository(name).permissions.get(login);
    let permission = permission.copied().unwrap_or(RepositoryPermission::None);
    ServedAnswer::json(&json!({ "permission": permission.word(), "user": user(&found) }))
}

fn comments(
    forge: &mut ServedForge,
    request: &ServedRequest,
    (name, number): (&str, u64),
    kind: HubKind,
) -> ServedAnswer {
    let items = forge.page_items;
    let repository = forge.repository(name);
    let subject = match repository.pulls.contains_key(&number) {
        true => ForgeSubject::Pull(number),
        false if repository.issues.contains_key(&number) => ForgeSubject::Issue(number),
        false => return ServedAnswer::not_found(),
    };
    if request.is_post {
        let posted = forge.post_comment(request, name, subject);
        return posted.map_or_else(
            || ServedAnswer::error(422, "Validation Failed"),
            |it| ServedAnswer::created(&comment(&it)),
        );
    }
    let since: Option<Timestamp> = request.parameter("since").and_then(|it| it.parse().ok());
    let all = repository.comments.get(&subject).into_iter().flatten();
    let all = all.filter(|it| since.is_none_or(|since| it.updated_at >= Some(since)));
    let all: Vec<Value> = all.map(comment).collect();
    // Gitea does not page comments.
    match kind {
        HubKind::Github => page(request, all, items, kind),
        HubKind::Gitea => ServedAnswer::json(&all.into()),
    }
}

fn jobs(forge: &mut ServedForge, name: &str, id: &str) -> ServedAnswer {
    let jobs = id.parse().ok().and_then(|id: u64| forge.repository(name).jobs.get(&id));
    let list = |jobs: &Vec<super::ServedJob>| {
        let job = |it: &super::ServedJob| json!({ "id": it.id, "name": it.name, "conclusion": conclusion(it) });
        json!({ "jobs": jobs.iter().map(job).collect::<Value>() })
    };
    ServedAnswer::optional(jobs.map(list))
}

fn checks(forge: &mut ServedForge, name: &str, id: &str) -> ServedAnswer {
    let jobs = id.parse().ok().and_then(|id: u64| forge.repository(name).jobs.get(&id));
    let list = |jobs: &Vec<super::ServedJob>| {
        let check = |it: &super::ServedJob| {
            let summary = String::from_utf8_lossy(&it.log).into_owned();
            let output = json!({ "title": "Result", "summary": summary, "text": null });
            json!({ "id": it.id, "name": it.name, "conclusion": conclusion(it), "output": output })
        };
        json!({ "check_runs": jobs.iter().map(check).collect::<Value>() })
    };
    ServedAnswer::optional(jobs.map(list))
}

fn conclusion(job: &super::ServedJob) -> &'static str {
    if job.has_failed { "failure" } else { "success" }
}

fn assigned(forge: &ServedForge, request: &ServedRequest, kind: HubKind) -> ServedAnswer {
    let since: Option<Timestamp> = request.parameter("since").and_then(|it| it.parse().ok());
    let mut all = Vec::new();
    for repository in &forge.repositories {
        for found in repository.issues.values() {
            let is_ours = found.assignees.iter().any(|it| it.is_same(&forge.account));
            if is_ours && since.is_none_or(|since| found.updated_at >= Some(since)) {
                let mut value = issue(found);
                value["repository"] = repository_json(&repository.repository);
                all.push((found.updated_at, value));
            }
        }
        // GitHub lists pull requests as issues.
        if kind == HubKind::Github {
            let pulls = repository.pulls.values().map(|it| {
                (
                    it.updated_at,
                    json!({
                        "id": it.id, "number": it.number, "title": it.title, "state": "open",
                        "pull_request": {}, "repository": repository_json(&repository.repository),
                    }),
                )
            });
            all.extend(pulls);
        }
    }
    all.sort_by_key(|(updated_at, _)| *updated_at);
    page(request, all.into_iter().map(|(_, value)| value).collect(), forge.page_items, kind)
}

/// Answers with one page of a list.
pub(super) fn page(
    request: &ServedRequest,
    all: Vec<Value>,
    most: usize,
    kind: HubKind,
) -> ServedAnswer {
    let size = match kind {
        HubKind::Github => request.number("per_page").unwrap_or(30).min(100),
        HubKind::Gitea => request.number("limit").unwrap_or(30).min(50),
    };
    let size = size.clamp(1, most);
    let number = request.number("page").unwrap_or(1).max(1);
    let is_last = all.len() <= size * number;
    let items: Value = all.into_iter().skip(size * (number - 1)).take(size).collect();
    let answer = ServedAnswer::json(&items);
    let next = format!("<http://{}/?page={}>; rel=\"next\"", request.host, number + 1);
    let first = format!("<http://{}/?page=1>; rel=\"first\"", request.host);
    match is_last {
        true => answer.with("link", first),
        false => answer.with("link", format!("{first}, {next}")),
    }
}

pub(super) fn user(user: &ForgeUser) -> Value {
    let kind = if user.is_bot() { "Bot" } else { "User" };
    json!({ "id": user.id, "login": user.login, "type": kind })
}

fn users(list: &[ForgeUser]) -> Value {
    list.iter().map(user).collect()
}

pub(super) fn repository_json(repository: &ForgeRepository) -> Value {
    json!({
        "id": repository.id,
        "full_name": repository.full_name,
        "html_url": repository.web_url,
        "clone_url": repository.clone_url.as_ref().map(|it| it.as_str()),
        "default_branch": repository.default_branch,
    })
}

fn labels(names: &[String]) -> Value {
    names.iter().map(|name| json!({ "name": name })).collect()
}

pub(super) fn issue(issue: &ForgeIssue) -> Value {
    json!({
        "id": issue.id,
        "number": issue.number,
        "title": issue.title,
        "body": issue.body,
        "html_url": issue.web_url,
        "state": if issue.is_open { "open" } else { "closed" },
        "user": issue.author.as_ref().map(user),
        "labels": labels(&issue.labels),
        "assignees": users(&issue.assignees),
        "updated_at": issue.updated_at,
        "pull_request": null,
    })
}

pub(super) fn pull(pull: &ForgePull, base: &ForgeRepository) -> Value {
    let head = if pull.is_fork { Value::Null } else { repository_json(base) };
    json!({
        "id": pull.id,
        "number": pull.number,
        "title": pull.title,
        "body": pull.body,
        "html_url": pull.web_url,
        "state": if pull.state == PullState::Open { "open" } else { "closed" },
        "draft": pull.is_draft,
        "merged": pull.state == PullState::Merged,
        "user": pull.author.as_ref().map(user),
        "labels": labels(&pull.labels),
        "assignees": users(&pull.assignees),
        "head": { "ref": pull.head_branch, "sha": pull.head_sha, "repo": head },
        "base": { "ref": pull.base_branch, "repo": repository_json(base) },
        "updated_at": pull.updated_at,
    })
}

fn comment(comment: &ForgeComment) -> Value {
    json!({
        "id": comment.id,
        "body": comment.body,
        "html_url": comment.web_url,
        "user": comment.author.as_ref().map(user),
        "created_at": comment.created_at,
        "updated_at": comment.updated_at,
    })
}

pub(super) fn line_comment(line: &ForgeComment, kind: HubKind) -> Value {
    let mut value = comment(line);
    let place = line.place.as_ref();
    let number = place.and_then(|place| place.line);
    value["path"] = place.map(|place| place.path.clone()).into();
    value["pull_request_review_id"] = line.review_id.into();
    match kind {
        HubKind::Github => {
            value["line"] = number.into();
            value["side"] = "RIGHT".into();
            // The position in the diff, which is not the line.
            value["position"] = 4.into();
        }
        HubKind::Gitea => {
            value["position"] = number.into();
            value["original_position"] = 0.into();
        }
    }
    value
}

pub(super) fn review(review: &ForgeReview, kind: HubKind) -> Value {
    let state = match (review.verdict, kind) {
        (ReviewVerdict::Approved, _) => "APPROVED",
        (ReviewVerdict::ChangesRequested, HubKind::Github) => "CHANGES_REQUESTED",
        (ReviewVerdict::ChangesRequested, HubKind::Gitea) => "REQUEST_CHANGES",
        (ReviewVerdict::Commented, HubKind::Github) => "COMMENTED",
        (ReviewVerdict::Commented, HubKind::Gitea) => "COMMENT",
        (ReviewVerdict::Dismissed, _) => "DISMISSED",
        (ReviewVerdict::Pending, _) => "PENDING",
    };
    json!({
        "id": review.id,
        "state": state,
        "body": review.body,
        "user": review.author.as_ref().map(user),
        "commit_id": review.commit,
        "submitted_at": review.submitted_at,
        "comments_count": review.comments.len(),
    })
}
