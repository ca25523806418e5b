//! The API of GitLab.

use jiff::Timestamp;
use segue_core::model::{
    ForgeComment, ForgeIssue, ForgePull, ForgeReview, ForgeSubject, ForgeUser, PullState,
    RepositoryPermission, ReviewVerdict,
};
use segue_core::rules::closing_words;
use serde_json::{Value, json};

use super::answers::ServedAnswer;
use super::state::{ServedForge, ServedRepository};
use super::{ServedRequest, gitlab_lists};

pub(super) fn route(
    forge: &mut ServedForge,
    request: &ServedRequest,
    path: &[&str],
) -> ServedAnswer {
    match path {
        ["user"] => ServedAnswer::json(&user(&forge.account)),
        ["users"] => {
            let login = request.parameter("username");
            let found = forge.users.iter().filter(|it| Some(it.login.as_str()) == login);
            ServedAnswer::json(&found.map(user).collect())
        }
        ["issues"] => assigned(forge, request),
        ["projects", text, rest @ ..] => {
            let id: Option<u64> = text.parse().ok();
            let is_meant = |it: &&ServedRepository| {
                Some(it.repository.id) == id || it.repository.full_name == *text
            };
            let found = forge.repositories.iter().find(is_meant);
            match found.map(|it| it.repository.full_name.clone()) {
                Some(name) => in_project(forge, request, &name, rest),
                None => ServedAnswer::not_found(),
            }
        }
        _ => ServedAnswer::not_found(),
    }
}

fn in_project(
    forge: &mut ServedForge,
    request: &ServedRequest,
    name: &str,
    path: &[&str],
) -> ServedAnswer {
    let number = path.get(1).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    match path {
        [] => {
            let repository = &forge.repository(name).repository;
            ServedAnswer::json(&json!({
                "id": repository.id,
                "path_with_namespace": repository.full_name,
                "http_url_to_repo": repository.clone_url.as_ref().map(|it| it.as_str()),
                "web_url": repository.web_url,
                "default_branch": repository.default_branch,
            }))
        }
        ["members", "all", id] => member(forge, name, id),
        [list @ ("issues" | "merge_requests")] => {
            let items = forge.page_items;
            gitlab_lists::list(forge.repository(name), request, list, items)
        }
        [_, _, list @ ("resource_label_events" | "resource_state_events")] => {
            gitlab_lists::history(forge.repository(name), number, list)
        }
        ["pipelines"] => gitlab_lists::pipelines(forge.repository(name), request),
        ["issues", _] => {
            let repository = forge.repository(name);
            ServedAnswer::optional(repository.issues.get(&number).map(|it| issue(it, repository)))
        }
        ["issues", _, "notes"] => notes(forge, request, name, ForgeSubject::Issue(number)),
        ["merge_requests", _, "notes"] => notes(forge, request, name, ForgeSubject::Pull(number)),
        ["merge_requests", _, rest @ ..] => in_pull(forge, request, (name, number), rest),
        ["pipelines", id, "jobs"] => {
            let jobs = id.parse().ok().and_then(|id: u64| forge.repository(name).jobs.get(&id));
            let failed = |jobs: &Vec<super::ServedJob>| -> Value {
                let failed = jobs.iter().filter(|it| it.has_failed);
                failed
                    .map(|it| json!({ "id": it.id, "name": it.name, "status": "failed" }))
                    .collect()
            };
            ServedAnswer::optional(jobs.map(failed))
        }
        ["jobs", id, "trace"] => forge.log(id),
        _ => ServedAnswer::not_found(),
    }
}

fn in_pull(
    forge: &mut ServedForge,
    request: &ServedRequest,
    (name, number): (&str, u64),
    path: &[&str],
) -> ServedAnswer {
    let items = forge.page_items;
    let repository = forge.repository(name);
    let Some(found) = repository.pulls.get(&number) else { return ServedAnswer::not_found() };
    let reviews: &[ForgeReview] = repository.reviews.get(&number).map_or(&[], Vec::as_slice);
    let by = |verdict| {
        let reviews = reviews.iter().filter(move |it| it.verdict == verdict);
        reviews.filter_map(|it| it.author.as_ref()).map(user)
    };
    match path {
        [] => ServedAnswer::json(&pull(found, repository.repository.id)),
        ["discussions"] => {
            let lines = reviews.iter().flat_map(|it| &it.comments);
            let discussion = |it: &ForgeComment| json!({ "id": it.thread, "notes": [note(it)] });
            page(request, lines.map(discussion).collect(), items)
        }
        ["approvals"] => {
            let approved = by(ReviewVerdict::Approved).map(|it| json!({ "user": it }));
            ServedAnswer::json(&json!({ "approved_by": approved.collect::<Value>() }))
        }
        ["reviewers"] => {
            let state = |it| json!({ "user": it, "state": "requested_changes" });
            ServedAnswer::json(&by(ReviewVerdict::ChangesRequested).map(state).collect())
        }
        ["closes_issues"] => {
            let numbers = closing_words::closed_issues(&found.body, name);
            let issues = numbers.iter().filter_map(|number| repository.issues.get(number));
            ServedAnswer::json(&issues.map(|it| issue(it, repository)).collect())
        }
        _ => ServedAnswer::not_found(),
    }
}

fn member(forge: &mut ServedForge, name: &str, id: &str) -> ServedAnswer {
    let id: Option<i64> = id.parse().ok();
    let found = forge.users.iter().find(|user| Some(user.id) == id).cloned();
    let permission =
        found.as_ref().and_then(|it| forge.repository(name).permissions.get(&it.login).copied());
    let level = match permission {
        Some(RepositoryPermission::Admin) => 40,
        Some(RepositoryPermission::Write) => 30,
        Some(RepositoryPermission::Read) => 10,
        Some(RepositoryPermission::None) | None => return ServedAnswer::not_found(),
    };
    ServedAnswer::json(&json!({ "id": id, "access_level": level, "state": "active" }))
}

fn notes(
    forge: &mut ServedForge,
    request: &ServedRequest,
    name: &str,
    subject: ForgeSubject,
) -> ServedAnswer {
    let items = forge.page_items;
    let repository = forge.repository(name);
    let is_there = match subject {
        ForgeSubject::Issue(number) => repository.issues.contains_key(&number),
        ForgeSubject::Pull(number) => repository.pulls.contains_key(&number),
    };
    if !is_there {
        return ServedAnswer::not_found();
    }
    if request.is_post {
        let posted = forge.post_comment(request, name, subject);
        return posted.map_or_else(
            || ServedAnswer::error(400, "body is missing"),
            |it| ServedAnswer::created(&note(&it)),
        );
    }
    let all = repository.comments.get(&subject).into_iter().flatten().map(note);
    // GitLab lists its own remarks among the comments.
    let own = json!({ "id": 1, "body": "assigned to @segue-bot", "system": true });
    let requests = gitlab_lists::remarks(repository, subject.number());
    let mut all: Vec<Value> = std::iter::once(own).chain(all).chain(requests).collect();
    if request.parameter("sort") == Some("desc") {
        all.reverse();
    }
    page(request, all, items)
}

fn assigned(forge: &ServedForge, request: &ServedRequest) -> ServedAnswer {
    let since: Option<Timestamp> =
        request.parameter("updated_after").and_then(|it| it.parse().ok());
    let mut all = Vec::new();
    for repository in &forge.repositories {
        for found in repository.issues.values() {
            let is_ours = found.assignees.iter().any(|it| it.is_same(&forge.account));
            if is_ours && since.is_none_or(|since| found.updated_at >= Some(since)) {
                all.push((found.updated_at, issue(found, repository)));
            }
        }
    }
    all.sort_by_key(|(updated_at, _)| *updated_at);
    page(request, all.into_iter().map(|(_, value)| value).collect(), forge.page_items)
}

/// Answers with one page of a list.
pub(super) fn page(request: &ServedRequest, all: Vec<Value>, most: usize) -> ServedAnswer {
    let size = request.number("per_page").unwrap_or(20).min(100).clamp(1, most);
    let number = request.number("page").unwrap_or(1).max(1);
    let is_last = all.len() <= size * number;
    let items: Value = all.into_iter().skip(size * (number - 1)).take(size).collect();
    let next = if is_last { String::new() } else { (number + 1).to_string() };
    ServedAnswer::json(&items).with("x-next-page", next)
}

pub(super) fn user(user: &ForgeUser) -> Value {
    json!({ "id": user.id, "username": user.login, "bot": user.is_bot() })
}

pub(super) fn issue(issue: &ForgeIssue, repository: &ServedRepository) -> Value {
    let (id, name) = (repository.repository.id, &repository.repository.full_name);
    json!({
        "id": issue.id,
        "iid": issue.number,
        "project_id": id,
        "title": issue.title,
        "description": issue.body,
        "web_url": issue.web_url,
        "state": if issue.is_open { "opened" } else { "closed" },
        "author": issue.author.as_ref().map(user),
        "labels": issue.labels,
        "assignees": issue.assignees.iter().map(user).collect::<Value>(),
        "updated_at": issue.updated_at,
        "references": { "full": format!("{name}#{}", issue.number) },
    })
}

pub(super) fn pull(pull: &ForgePull, project: u64) -> Value {
    let state = match pull.state {
        PullState::Open => "opened",
        PullState::Closed => "closed",
        PullState::Merged => "merged",
    };
    json!({
        "id": pull.id,
        "iid": pull.number,
        "project_id": project,
        "title": pull.title,
        "description": pull.body,
        "web_url": pull.web_url,
        "state": state,
        "draft": pull.is_draft,
        "author": pull.author.as_ref().map(user),
        "labels": pull.labels,
        "assignees": pull.assignees.iter().map(user).collect::<Value>(),
        "source_branch": pull.head_branch,
        "target_branch": pull.base_branch,
        "source_project_id": if pull.is_fork { project + 1 } else { project },
        "target_project_id": project,
        "sha": pull.head_sha,
        "updated_at": pull.updated_at,
    })
}

fn note(comment: &ForgeComment) -> Value {
    let position = comment.place.as_ref().map(|place| {
        let path = &place.path;
        json!({ "new_path": path, "old_path": path, "new_line": place.line, "old_line": null })
    });
    json!({
        "id": comment.id,
        "type": if position.is_some() { json!("DiffNote") } else { Value::Null },
        "body": comment.body,
        "author": comment.author.as_ref().map(user),
        "system": false,
        "position": position,
        "created_at": comment.created_at,
        "updated_at": comment.updated_at,
    })
}
