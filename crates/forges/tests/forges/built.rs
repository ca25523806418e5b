//! Deliveries that were written for Segue, from the public documentation and source code of the
//! forges, for events of which no recording was found.

use segue_core::model::{
    CiConclusion, CiLogSource, DeliveryReading, DiffSide, PullState, ReviewVerdict, TriggerKind,
};
use serde_json::{Map, Value, json};

use crate::support::{TestDelivery, bytes, words};

const SHA: &str = "3e4db3586b65dd401de8c77b3ac343fd24cbf89b";
const ZERO: &str = "0000000000000000000000000000000000000000";

fn repository() -> Value {
    json!({
        "id": 42, "full_name": "team/app", "html_url": "https://git.example.org/team/app",
        "clone_url": "https://git.example.org/team/app.git", "default_branch": "main",
    })
}

fn person(id: i64, login: &str) -> Value {
    json!({ "id": id, "login": login, "type": "User" })
}

fn issue() -> Value {
    json!({
        "id": 700, "number": 7, "title": "Crash", "body": null, "state": "open",
        "user": person(5, "ada"), "labels": [{ "name": "bug" }], "assignees": [person(6, "bob")],
        "updated_at": "2026-01-02T03:04:05Z",
    })
}

fn pull() -> Value {
    json!({
        "id": 800, "number": 8, "title": "Fix", "body": "Fixes #7", "state": "open",
        "user": person(5, "ada"), "merged": false,
        "head": { "ref": "fix", "sha": SHA, "repo": repository() },
        "base": { "ref": "main", "sha": SHA, "repo": repository() },
        "updated_at": "2026-01-02T03:04:05Z",
    })
}

/// Returns a delivery with a repository, a sender and other fields.
fn delivery(forge: &'static str, event: &str, fields: Value) -> TestDelivery {
    let body = json!({ "repository": repository(), "sender": person(5, "ada") });
    TestDelivery::signed(forge, event, bytes(&changed(body, fields)))
}

fn fields_of(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        other => panic!("{other} is no object"),
    }
}

/// Returns the object with other values of some fields.
fn changed(mut object: Value, changes: Value) -> Value {
    for (name, value) in fields_of(changes) {
        object[name] = value;
    }
    object
}

/// Checks what the deliveries of a forge mean: event, fields, words of the reading.
fn check<const N: usize>(forge: &'static str, table: [(&str, Value, &str); N]) {
    for (event, fields, expected) in table {
        let reading = match forge {
            "gitlab" => gitlab(event, fields.clone()).read(),
            _ => delivery(forge, event, fields.clone()).read(),
        };
        let reading = reading.unwrap_or_else(|error| panic!("{event} {fields}: {error}"));
        assert_eq!(words(&reading), expected, "{forge} {event} {fields}");
    }
}

#[test]
fn issue_events_of_github_have_their_triggers() {
    let of_pull = changed(issue(), json!({ "pull_request": { "url": "" } }));
    let comment = json!({ "id": 1 });
    let table = [
        ("issues", json!({ "action": "closed", "issue": issue() }), "issue.closed"),
        ("issues", json!({ "action": "unlabeled", "issue": issue() }), "ignored"),
        (
            "issue_comment",
            json!({ "action": "edited", "issue": issue(), "comment": comment }),
            "ignored",
        ),
        (
            "issue_comment",
            json!({ "action": "created", "issue": of_pull, "comment": comment }),
            "pull.commented",
        ),
        ("ping", json!({ "zen": "Keep it logically awesome." }), "ping"),
        ("star", json!({ "action": "created" }), "ignored"),
        ("no_such_event", json!({}), "ignored"),
    ];
    check("github", table);
}

#[test]
fn pull_request_events_of_github_have_their_triggers() {
    let merged = changed(pull(), json!({ "merged": true, "state": "closed" }));
    let draft = changed(pull(), json!({ "draft": true }));
    let team = json!({ "name": "core" });
    let review = |state: &str| json!({ "id": 1, "state": state, "body": null });
    let event = |action: &str, pull: Value| json!({ "action": action, "pull_request": pull });
    let reviewed = |action: &str, state: &str| {
        changed(event(action, pull()), json!({ "review": review(state) }))
    };
    let requested = event("review_requested", pull());
    let table = [
        ("pull_request", event("closed", merged), "pull.merged"),
        ("pull_request", event("opened", draft), "ignored"),
        ("pull_request", event("reopened", pull()), "ignored"),
        (
            "pull_request",
            changed(requested, json!({ "requested_team": team })),
            "pull.review_requested",
        ),
        ("pull_request_review", reviewed("submitted", "approved"), "pull.review_submitted"),
        ("pull_request_review", reviewed("dismissed", "dismissed"), "ignored"),
    ];
    check("github", table);
}

#[test]
fn ci_events_of_github_have_their_triggers() {
    let run = |conclusion: &str| json!({ "id": 9, "name": "tests", "conclusion": conclusion });
    let finished =
        |conclusion: &str| json!({ "action": "completed", "workflow_run": run(conclusion) });
    let suite = |app: &str| {
        let suite = changed(run("failure"), json!({ "app": { "slug": app } }));
        json!({ "action": "completed", "check_suite": suite })
    };
    let status = |state: &str| json!({ "state": state, "sha": SHA, "context": "ci" });
    let table = [
        ("workflow_run", finished("failure"), "ci.failed"),
        ("workflow_run", finished("timed_out"), "ci.failed"),
        ("workflow_run", finished("success"), "ci.succeeded"),
        ("workflow_run", finished("cancelled"), "ignored"),
        ("workflow_run", json!({ "action": "requested", "workflow_run": run("") }), "ignored"),
        ("check_suite", suite("circle"), "ci.failed"),
        ("check_suite", suite("github-actions"), "ignored"),
        ("check_run", json!({ "action": "completed" }), "ignored"),
        ("status", status("failure"), "ci.failed"),
        ("status", status("error"), "ci.failed"),
        ("status", status("success"), "ci.succeeded"),
        ("status", status("pending"), "ignored"),
    ];
    check("github", table);
}

#[test]
fn branch_events_of_github_have_their_triggers() {
    let push = |name: &str, after: &str| json!({ "ref": name, "before": SHA, "after": after });
    let table = [
        ("delete", json!({ "ref": "fix", "ref_type": "branch" }), "branch.deleted"),
        ("delete", json!({ "ref": "v1", "ref_type": "tag" }), "ignored"),
        ("push", push("refs/heads/fix", SHA), "push"),
        ("push", push("refs/heads/fix", ZERO), "ignored"),
        ("push", push("refs/tags/v1", SHA), "ignored"),
    ];
    check("github", table);
    let forced = changed(push("refs/heads/fix", SHA), json!({ "forced": true }));
    assert_eq!(delivery("github", "push", forced).event().push.unwrap().is_forced, Some(true));
}

#[test]
fn comment_on_a_pull_request_of_github_is_no_comment_on_an_issue() {
    let mut issue = issue();
    issue["pull_request"] = json!({ "url": "x" });
    let fields = json!({ "action": "created", "issue": issue, "comment": { "id": 3, "body": "why?", "user": person(5, "ada"), "updated_at": "2026-02-02T03:04:05Z" } });
    let event = delivery("github", "issue_comment", fields).event();
    assert_eq!(event.issue, None);
    let pull = event.pull.unwrap();
    assert_eq!((pull.number, pull.head_branch.as_str(), pull.is_fork), (7, "", false));
    assert_eq!(event.comment.unwrap().body, "why?");
    assert_eq!(event.updated_at.unwrap().to_string(), "2026-02-02T03:04:05Z");
}

#[test]
fn line_comment_of_github_has_place_and_review() {
    let comment = json!({
        "id": 3, "body": "wrong", "path": "src/a.rs", "line": 12, "start_line": 10, "side": "LEFT",
        "pull_request_review_id": 99,
    });
    let fields = json!({ "action": "created", "pull_request": pull(), "comment": comment });
    let comment =
        delivery("github", "pull_request_review_comment", fields).event().comment.unwrap();
    let place = comment.place.unwrap();
    assert_eq!(
        (place.path.as_str(), place.line, place.start_line),
        ("src/a.rs", Some(12), Some(10))
    );
    assert_eq!((place.side, comment.review_id), (DiffSide::Old, Some(99)));
}

#[test]
fn deleted_fork_and_bots_of_github_are_recognized() {
    let mut pull = pull();
    pull["head"]["repo"] = Value::Null;
    let fields = json!({ "action": "synchronize", "pull_request": pull, "sender": { "id": 9, "login": "dependabot[bot]", "type": "Bot" } });
    let event = delivery("github", "pull_request", fields).event();
    assert!(event.pull.unwrap().is_fork);
    assert!(event.actor.unwrap().is_bot());
}

#[test]
fn failed_run_of_github_names_its_log() {
    let run = json!({ "id": 9, "name": "tests", "conclusion": "failure", "head_branch": "fix", "head_sha": SHA, "pull_requests": [{ "number": 8 }] });
    let fields = json!({ "action": "completed", "workflow_run": run });
    let run = delivery("github", "workflow_run", fields).event().ci.unwrap();
    assert_eq!((run.log, run.conclusion), (CiLogSource::Run(9), CiConclusion::Failed));
    assert_eq!((run.name.as_str(), run.branch.as_deref()), ("tests", Some("fix")));
    assert_eq!((run.sha.unwrap().as_str(), run.pulls), (SHA, vec![8]));
}

#[test]
fn issue_events_of_gitea_and_forgejo_have_their_triggers() {
    let unlabeled = changed(issue(), json!({ "labels": [] }));
    let event = |action: &str| json!({ "action": action, "issue": issue() });
    let comment = |action: &str, is_pull: bool| {
        changed(event(action), json!({ "is_pull": is_pull, "comment": { "id": 1 } }))
    };
    for forge in ["gitea", "forgejo"] {
        let cleared = json!({ "action": "label_updated", "issue": unlabeled });
        let table = [
            ("issues", event("opened"), "ignored"),
            ("issues", event("closed"), "issue.closed"),
            ("issues", event("reopened"), "issue.reopened"),
            ("issue_assign", event("unassigned"), "ignored"),
            ("issue_label", event("label_updated"), "issue.labeled"),
            ("issue_label", cleared, "ignored"),
            ("issue_label", event("label_cleared"), "ignored"),
            ("pull_request_comment", comment("created", true), "pull.commented"),
            ("issue_comment", comment("created", false), "issue.commented"),
            ("issue_comment", comment("deleted", false), "ignored"),
            ("repository", json!({ "action": "renamed" }), "ignored"),
        ];
        check(forge, table);
    }
}

#[test]
fn pull_request_events_of_gitea_and_forgejo_have_their_triggers() {
    let event = |action: &str| json!({ "action": action, "pull_request": pull() });
    let reviewed = |kind: &str| {
        changed(event("reviewed"), json!({ "review": { "type": kind, "content": "" } }))
    };
    let (approved, commented) = ("pull_request_review_approved", "pull_request_review_comment");
    for forge in ["gitea", "forgejo"] {
        let table = [
            ("pull_request", event("opened"), "pull.opened"),
            ("pull_request", event("closed"), "pull.closed"),
            ("pull_request_sync", event("synchronized"), "pull.synchronized"),
            ("pull_request_label", event("label_updated"), "ignored"),
            (approved, reviewed(approved), "pull.review_submitted"),
            (commented, reviewed(commented), "pull.review_submitted"),
        ];
        check(forge, table);
    }
}

#[test]
fn ci_and_branch_events_of_gitea_and_forgejo_have_their_triggers() {
    let run = |status: &str| {
        let run = json!({ "id": 3, "status": status, "repository": repository() });
        json!({ "action": status, "run": run })
    };
    let workflow = json!({ "id": 1, "conclusion": "failure" });
    let status = |url: &str| json!({ "state": "failure", "sha": SHA, "target_url": url });
    let deleted = |name: &str| json!({ "ref": name, "ref_type": "branch" });
    let push = |name: &str, before: &str, after: &str| json!({ "ref": name, "before": before, "after": after });
    for forge in ["gitea", "forgejo"] {
        let finished = json!({ "action": "completed", "workflow_run": workflow });
        let table = [
            ("workflow_run", finished, "ci.failed"),
            ("workflow_job", json!({ "action": "completed" }), "ignored"),
            ("status", status("https://ci.example.org/3"), "ci.failed"),
            ("status", status("/team/app/actions/runs/3/jobs/0"), "ignored"),
            ("action_run_failure", run("failure"), "ci.failed"),
            ("action_run_failure", run("cancelled"), "ignored"),
            ("action_run_success", run("success"), "ci.succeeded"),
            ("action_run_recover", run("success"), "ignored"),
            ("delete", deleted("fix"), "branch.deleted"),
            ("delete", deleted("refs/heads/fix"), "branch.deleted"),
            ("push", push("refs/heads/fix", ZERO, SHA), "push"),
            ("push", push("refs/heads/fix", SHA, SHA), "ping"),
            ("push", push("refs/heads/main", ZERO, ZERO), "ping"),
            ("push", push("refs/tags/v1", SHA, ZERO), "ignored"),
        ];
        check(forge, table);
    }
}

#[test]
fn run_of_forgejo_without_repository_and_sender_has_both() {
    let run = json!({ "id": 3, "workflow_id": "test.yml", "prettyref": "fix", "commit_sha": SHA, "status": "failure", "repository": repository(), "trigger_user": person(5, "ada"), "updated": "2026-01-02T03:04:05Z" });
    let body = json!({ "action": "failure", "run": run });
    let event = TestDelivery::signed("forgejo", "action_run_failure", bytes(&body)).event();
    assert_eq!(event.actor.unwrap().login, "ada");
    assert_eq!(event.repository.full_name, "team/app");
    let run = event.ci.unwrap();
    assert_eq!((run.name.as_str(), run.log), ("test.yml", CiLogSource::Run(3)));
}

#[test]
fn deleted_branch_of_forgejo_is_named_without_its_prefix() {
    for name in ["a/b", "refs/heads/a/b"] {
        let fields = json!({ "ref": name, "ref_type": "branch" });
        assert_eq!(delivery("forgejo", "delete", fields).event().branch.as_deref(), Some("a/b"));
    }
}

#[test]
fn workflows_of_gitea_are_bots() {
    for sender in
        [json!({ "id": -2, "login": "x" }), json!({ "id": 1, "login": "forgejo-actions" })]
    {
        let fields = json!({ "action": "closed", "issue": issue(), "sender": sender });
        assert!(delivery("gitea", "issues", fields).event().actor.unwrap().is_bot());
    }
}

#[test]
fn delivery_of_forgejo_without_an_event_is_ignored() {
    let delivery = TestDelivery { forge: "forgejo", headers: Vec::new(), body: b"{}".to_vec() };
    assert!(matches!(delivery.read(), Ok(DeliveryReading::Ignored(_))));
}

/// Returns a delivery of GitLab.
fn gitlab(kind: &str, fields: Value) -> TestDelivery {
    let project = json!({
        "id": 42, "path_with_namespace": "team/sub/app", "web_url": "https://git.example.org/team/sub/app",
        "git_http_url": "https://git.example.org/team/sub/app.git", "default_branch": "main",
    });
    let user = json!({ "id": 5, "username": "ada" });
    let body = json!({ "object_kind": kind, "project": project, "user": user });
    TestDelivery::signed("gitlab", "Hook", bytes(&changed(body, fields)))
}

fn attributes(action: &str) -> Value {
    json!({
        "id": 700, "iid": 7, "title": "Crash", "description": null, "state": "opened",
        "action": action, "updated_at": "2026-01-02 03:04:05 UTC",
        "source_branch": "fix", "target_branch": "main", "source_project_id": 42,
        "target_project_id": 42, "last_commit": { "id": SHA },
    })
}

fn change(previous: &Value, current: &Value) -> Value {
    json!({ "previous": previous, "current": current })
}

#[test]
fn issue_events_of_gitlab_have_their_triggers() {
    let bob = json!({ "id": 6, "username": "bob" });
    let bug = json!({ "title": "bug" });
    let event = |action: &str, fields: Value| {
        changed(json!({ "object_attributes": attributes(action) }), fields)
    };
    let assigned = json!({ "assignees": change(&json!([]), &json!([bob])) });
    let unassigned = json!({ "assignees": change(&json!([bob]), &json!([])) });
    let both = changed(assigned.clone(), json!({ "labels": change(&json!([]), &json!([bug])) }));
    let table = [
        ("issue", event("open", json!({})), "ignored"),
        (
            "issue",
            event("open", json!({ "assignees": [bob], "labels": [bug] })),
            "issue.assigned issue.labeled",
        ),
        ("issue", event("update", json!({ "changes": assigned })), "issue.assigned"),
        ("issue", event("update", json!({ "changes": unassigned })), "ignored"),
        ("issue", event("update", json!({ "changes": both })), "issue.assigned issue.labeled"),
        ("issue", event("update", json!({ "assignees": [bob], "changes": null })), "ignored"),
        ("issue", event("close", json!({})), "issue.closed"),
        ("issue", event("reopen", json!({})), "issue.reopened"),
    ];
    check("gitlab", table);
}

#[test]
fn comments_of_gitlab_have_their_triggers() {
    let note = |kind: &str| json!({ "id": 1, "note": "hi", "noteable_type": kind });
    let object = |fields: Value| json!({ "object_attributes": changed(note("Issue"), fields) });
    let on_issue = json!({ "object_attributes": note("Issue"), "issue": attributes("") });
    let pull = attributes("");
    let on_pull = json!({ "object_attributes": note("MergeRequest"), "merge_request": pull });
    let table = [
        ("note", on_issue, "issue.commented"),
        ("note", on_pull, "pull.commented"),
        ("note", json!({ "object_attributes": note("Commit") }), "ignored"),
        ("note", object(json!({ "system": true })), "ignored"),
        ("note", object(json!({ "action": "update" })), "ignored"),
    ];
    check("gitlab", table);
}

#[test]
fn merge_request_events_of_gitlab_have_their_triggers() {
    let reviewer = |state: &str| json!({ "id": 6, "username": "bob", "state": state });
    let again = changed(reviewer("unreviewed"), json!({ "re_requested": true }));
    let before = json!([reviewer("unreviewed")]);
    let asks = json!({ "reviewers": change(&before, &json!([reviewer("requested_changes")])) });
    let again = json!({ "reviewers": change(&before, &json!([again])) });
    let ready = json!({ "draft": change(&json!(true), &json!(false)) });
    let event = |action: &str| json!({ "object_attributes": attributes(action) });
    let with = |action: &str, fields: Value| json!({ "object_attributes": changed(attributes(action), fields) });
    let update = |changes: Value| changed(event("update"), json!({ "changes": changes }));
    let table = [
        ("merge_request", event("open"), "pull.opened"),
        ("merge_request", with("open", json!({ "draft": true })), "ignored"),
        ("merge_request", update(ready), "pull.opened"),
        ("merge_request", with("update", json!({ "oldrev": SHA })), "pull.synchronized"),
        ("merge_request", event("update"), "ignored"),
        ("merge_request", update(asks), "pull.review_submitted"),
        ("merge_request", update(again), "pull.review_requested"),
        ("merge_request", event("approved"), "pull.review_submitted"),
        ("merge_request", event("approval"), "pull.review_submitted"),
        ("merge_request", event("unapproved"), "ignored"),
        ("merge_request", with("approved", json!({ "system": true })), "ignored"),
        ("merge_request", event("close"), "pull.closed"),
        ("merge_request", event("merge"), "pull.merged"),
    ];
    check("gitlab", table);
}

#[test]
fn ci_and_branch_events_of_gitlab_have_their_triggers() {
    let pipeline = |status: &str| json!({ "object_attributes": { "id": 3, "status": status } });
    let push = |after: &str| json!({ "ref": "refs/heads/fix", "before": SHA, "after": after });
    let table = [
        ("pipeline", pipeline("failed"), "ci.failed"),
        ("pipeline", pipeline("success"), "ci.succeeded"),
        ("pipeline", pipeline("running"), "ignored"),
        ("pipeline", pipeline("canceled"), "ignored"),
        ("push", push(SHA), "push"),
        ("push", push(ZERO), "branch.deleted"),
        ("tag_push", json!({ "ref": "refs/tags/v1" }), "ignored"),
        ("build", json!({ "ref": "main", "user": { "id": null } }), "ignored"),
    ];
    check("gitlab", table);
}

#[test]
fn issue_of_gitlab_with_a_status_object_is_read() {
    let fields = json!({ "status": { "id": 1, "name": "To do" }, "position": 0 });
    let body = json!({ "object_attributes": changed(attributes("close"), fields) });
    assert_eq!(gitlab("issue", body).event().trigger, TriggerKind::IssueClosed);
}

#[test]
fn only_new_assignees_of_gitlab_are_changes() {
    let (bob, eve) = (json!({ "id": 6, "username": "bob" }), json!({ "id": 7, "username": "eve" }));
    let changes = json!({ "assignees": { "previous": [bob], "current": [bob, eve] } });
    let fields = json!({ "object_attributes": attributes("update"), "changes": changes, "assignees": [bob, eve] });
    let event = gitlab("issue", fields).event();
    let logins: Vec<_> = event.changes.assignees.iter().map(|it| it.login.as_str()).collect();
    assert_eq!(logins, ["eve"]);
    assert_eq!(event.issue.unwrap().assignees.len(), 2);
    assert_eq!(event.repository.full_name, "team/sub/app");
}

#[test]
fn merge_request_of_gitlab_has_branches_state_and_ref() {
    let fork = changed(attributes("open"), json!({ "source_project_id": 43 }));
    let event = gitlab("merge_request", json!({ "object_attributes": fork })).event();
    let pull = event.pull.unwrap();
    assert!(pull.is_fork);
    assert_eq!((pull.head_branch.as_str(), pull.base_branch.as_str()), ("fix", "main"));
    assert_eq!((pull.head_sha.unwrap().as_str(), pull.state), (SHA, PullState::Open));
    assert_eq!(pull.head_ref.unwrap().as_str(), "refs/merge-requests/7/head");
    let approved =
        gitlab("merge_request", json!({ "object_attributes": attributes("approved") })).event();
    let review = approved.review.unwrap();
    assert_eq!((review.verdict, review.author), (ReviewVerdict::Approved, approved.actor));
}

#[test]
fn actor_of_a_push_of_gitlab_is_named_in_other_fields() {
    let fields = json!({ "ref": "refs/heads/fix", "before": ZERO, "after": SHA, "user": null, "user_id": 9, "user_username": "project_42_bot_x" });
    let event = gitlab("push", fields).event();
    let actor = event.actor.unwrap();
    assert_eq!((actor.id, actor.kind.word()), (9, "bot"));
    assert_eq!((event.trigger, event.push.unwrap().before), (TriggerKind::Push, None));
}
