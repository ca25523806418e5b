//! Deliveries that other projects have recorded.

use std::fs;
use std::path::Path;

use segue_core::model::{CiLogSource, DiffSide, PullState, ReviewVerdict, TriggerKind, UserKind};

use crate::support::{SECRET, TestDelivery};

fn recorded(file: &str, event: &str) -> TestDelivery {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let body = fs::read(folder.join(file).with_extension("json")).unwrap();
    let forge = ["gitea", "forgejo", "gitlab"].into_iter().find(|it| file.starts_with(it)).unwrap();
    let delivery = TestDelivery::signed(forge, event, body);
    assert_eq!(delivery.verify(SECRET), Ok(()), "{file}");
    delivery
}

#[test]
fn every_recorded_delivery_has_its_trigger() {
    let table = [
        ("gitea-issue-assigned", "issue_assign", TriggerKind::IssueAssigned),
        ("gitea-issue-comment", "issue_comment", TriggerKind::IssueCommented),
        ("gitea-pull-opened", "pull_request", TriggerKind::PullOpened),
        (
            "gitea-pull-review-rejected",
            "pull_request_review_rejected",
            TriggerKind::PullReviewSubmitted,
        ),
        (
            "gitea-pull-review-requested",
            "pull_request_review_request",
            TriggerKind::PullReviewRequested,
        ),
        ("forgejo-pull-merged", "pull_request", TriggerKind::PullMerged),
        ("forgejo-push", "push", TriggerKind::Push),
        ("gitlab-merge-request-merged", "Merge Request Hook", TriggerKind::PullMerged),
        (
            "gitlab-merge-request-review-requested",
            "Merge Request Hook",
            TriggerKind::PullReviewRequested,
        ),
        ("gitlab-note-diff", "Note Hook", TriggerKind::PullCommented),
        ("gitlab-note-issue", "Note Hook", TriggerKind::IssueCommented),
        ("gitlab-pipeline", "Pipeline Hook", TriggerKind::CiSucceeded),
    ];
    for (file, event, expected) in table {
        let read = recorded(file, event).event();
        assert_eq!(read.trigger, expected, "{file}");
        assert!(read.actor.is_some() && read.repository.clone_url.is_some(), "{file}");
        assert!(read.repository.id > 0 && read.repository.full_name.contains('/'), "{file}");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let files = fs::read_dir(folder).unwrap().flatten();
    let files = files.filter(|it| it.path().extension().is_some_and(|it| it == "json"));
    assert_eq!(files.count(), table.len());
}

#[test]
fn assigned_issue_of_gitea_has_all_assignees() {
    let event = recorded("gitea-issue-assigned", "issue_assign").event();
    let issue = event.issue.as_ref().unwrap();
    assert_eq!((issue.number, issue.title.as_str(), issue.is_open), (1, "example", true));
    let logins: Vec<&str> = event.changes.assignees.iter().map(|it| it.login.as_str()).collect();
    assert_eq!(logins, ["example"]);
    assert_eq!(event.updated_at.unwrap().to_string(), "2022-03-09T07:20:23Z");
    assert!(event.dedupe_key().is_some());
    let url = event.repository.clone_url.unwrap();
    assert_eq!(url.as_str(), "http://localhost:3000/example/example.git");
}

#[test]
fn pull_request_of_gitea_from_another_repository_is_a_fork() {
    let pull = recorded("gitea-pull-opened", "pull_request").event().pull.unwrap();
    assert!(pull.is_fork);
    assert_eq!((pull.number, pull.state), (2, PullState::Open));
    assert_eq!(pull.head_ref.unwrap().as_str(), "refs/pull/2/head");
    assert!(pull.head_sha.is_some() && !pull.head_branch.is_empty());
    let merged = recorded("forgejo-pull-merged", "pull_request").event().pull.unwrap();
    assert!(!merged.is_fork);
    assert_eq!(merged.state, PullState::Merged);
}

#[test]
fn review_of_gitea_has_verdict_text_and_reviewer() {
    let event = recorded("gitea-pull-review-rejected", "pull_request_review_rejected").event();
    let review = event.review.unwrap();
    assert_eq!(review.verdict, ReviewVerdict::ChangesRequested);
    assert_eq!(review.body, "I decided otherwhies :O");
    assert_eq!(review.author, event.actor);
    assert_eq!((review.id, event.pull.unwrap().number), (None, 7));
}

#[test]
fn old_headers_of_gitea_without_an_event_type_are_understood() {
    let delivery = recorded("gitea-pull-review-rejected", "x").without("X-Gitea-Event-Type");
    let event = delivery.with("X-Gitea-Event", "pull_request_rejected").event();
    assert_eq!(event.trigger, TriggerKind::PullReviewSubmitted);
    let delivery = recorded("gitea-issue-assigned", "x").without("X-Gitea-Event-Type");
    let event = delivery.with("X-Gitea-Event", "issues").event();
    assert_eq!(event.trigger, TriggerKind::IssueAssigned);
}

#[test]
fn requested_reviewers_are_named() {
    for (file, event, login) in [
        ("gitea-pull-review-requested", "pull_request_review_request", None),
        ("gitlab-merge-request-review-requested", "Merge Request Hook", Some("real6543")),
    ] {
        let reviewers = recorded(file, event).event().changes.reviewers;
        assert_eq!(reviewers.len(), 1, "{file}");
        assert!(login.is_none_or(|login| reviewers[0].login == login), "{reviewers:?}");
    }
}

#[test]
fn line_comment_of_gitlab_has_its_place() {
    let event = recorded("gitlab-note-diff", "Note Hook").event();
    let comment = event.comment.unwrap();
    let place = comment.place.unwrap();
    assert_eq!(
        (place.path.as_str(), place.line, place.side),
        ("README.md", Some(1), DiffSide::New)
    );
    assert_eq!(comment.thread.unwrap(), "e2d22c5e7bc2dda3d55f3ddc6d48b65326e2612b");
    assert_eq!(event.pull.unwrap().number, 1);
    // This release leaves out the id of the user, which is that of the comment's author.
    let actor = event.actor.unwrap();
    assert_eq!((actor.id, actor.login.as_str(), actor.kind), (51764, "sytses", UserKind::Person));
}

#[test]
fn pipeline_of_gitlab_names_its_commit_and_merge_request() {
    let event = recorded("gitlab-pipeline", "Pipeline Hook").event();
    let run = event.ci.unwrap();
    assert_eq!(run.log, CiLogSource::Run(31));
    assert_eq!(run.branch.as_deref(), Some("master"));
    assert_eq!(run.sha.unwrap().as_str(), "bcbb5ec396a2c0f828686f14fac9b80b780504f2");
    assert_eq!(run.pulls, [1]);
    assert_eq!(event.updated_at.unwrap().to_string(), "2016-08-12T15:26:29Z");
}

#[test]
fn push_of_forgejo_has_branch_and_commits() {
    let event = recorded("forgejo-push", "push").event();
    let push = event.push.unwrap();
    assert_eq!(event.branch.as_deref(), Some("main"));
    assert_eq!(push.before.unwrap().as_str(), "4b2626259b5a97b6b4eab5e6cca66adb986b672b");
    assert_eq!(push.after.unwrap().as_str(), "ef98532add3b2feb7a137426bba1248724367df5");
    assert_eq!(push.is_forced, None);
}
