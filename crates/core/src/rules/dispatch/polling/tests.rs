use super::*;
use crate::model::{CommitId, ForgeIssue, ForgePull, UserKind};

fn at(second: i64) -> Option<Timestamp> {
    Some(Timestamp::from_second(second).unwrap())
}

fn user(login: &str) -> ForgeUser {
    ForgeUser { id: 0, login: login.into(), kind: UserKind::Person }
}

/// Returns an issue that was created at second 10 and changed at second 50.
fn issue(is_open: bool, labels: &[&str], assignees: &[&str]) -> ListedIssue {
    let issue = ForgeIssue {
        id: 70,
        number: 7,
        title: String::new(),
        body: String::new(),
        web_url: String::new(),
        is_open,
        author: None,
        labels: labels.iter().map(|&label| label.to_owned()).collect(),
        assignees: assignees.iter().map(|login| user(login)).collect(),
        updated_at: at(50),
    };
    ListedIssue { issue, created_at: at(10), closed_at: at(45).filter(|_| !is_open) }
}

fn pull(state: PullState, is_draft: bool, head: char, reviewers: &[&str]) -> ListedPull {
    let pull = ForgePull {
        id: 12,
        number: 12,
        title: String::new(),
        body: String::new(),
        web_url: String::new(),
        state,
        is_draft,
        author: None,
        labels: Vec::new(),
        assignees: Vec::new(),
        head_branch: "fix".into(),
        base_branch: "main".into(),
        head_sha: CommitId::parse(&head.to_string().repeat(40)).ok(),
        is_fork: false,
        head_ref: None,
        updated_at: at(50),
    };
    let reviewers = reviewers.iter().map(|login| user(login)).collect();
    let closed_at = at(45).filter(|_| state != PullState::Open);
    ListedPull { pull, created_at: at(10), closed_at, reviewers }
}

/// Returns the triggers with the names that were changed. A change that needs proof ends with `?`.
fn words(changes: &[PolledChange]) -> String {
    let word = |change: &PolledChange| {
        let EventChanges { labels, assignees, reviewers, .. } = &change.changes;
        let users = assignees.iter().chain(reviewers).map(|user| user.login.as_str());
        let names: Vec<&str> = labels.iter().map(String::as_str).chain(users).collect();
        let proof = if change.needs_proof { "?" } else { "" };
        match names.is_empty() {
            true => format!("{}{proof}", change.trigger.word()),
            false => format!("{}({}){proof}", change.trigger.word(), names.join(" ")),
        }
    };
    changes.iter().map(word).collect::<Vec<_>>().join(", ")
}

#[test]
fn changes_of_an_issue_are_found_by_comparing_two_answers() {
    let open = |labels: &[&str], users: &[&str]| Some(polled_issue(&issue(true, labels, users)));
    let closed = Some(polled_issue(&issue(false, &[], &[])));
    let table = [
        (open(&[], &[]), issue(true, &[], &[]), at(40), ""),
        (open(&["old"], &[]), issue(true, &["old", "bug"], &[]), at(40), "issue.labeled(bug)"),
        (open(&["old"], &[]), issue(true, &[], &[]), at(40), ""),
        (open(&[], &["ada"]), issue(true, &[], &["ada", "bob"]), at(40), "issue.assigned(bob)"),
        (open(&[], &[]), issue(false, &[], &[]), at(40), "issue.closed"),
        (closed.clone(), issue(true, &[], &[]), at(40), "issue.reopened"),
        (closed, issue(false, &[], &[]), at(40), ""),
        // Not known, and created since the last answer.
        (None, issue(true, &["bug"], &[]), at(10), "issue.labeled(bug)"),
        (None, issue(false, &[], &[]), at(10), "issue.closed"),
        (None, issue(true, &["bug"], &["ada"]), None, "issue.labeled(bug), issue.assigned(ada)"),
        // Not known, and created before the last answer.
        (None, issue(true, &["bug"], &["ada"]), at(40), "issue.reopened?"),
        (None, issue(false, &[], &[]), at(40), "issue.closed"),
        (None, issue(false, &[], &[]), at(46), ""),
    ];
    for (known, listed, since, expected) in table {
        let found = words(&issue_changes(known.as_ref(), &listed, since));
        assert_eq!(found, expected, "{known:?} {listed:?} {since:?}");
    }
}

#[test]
fn changes_of_a_pull_request_are_found_by_comparing_two_answers() {
    use PullState::{Closed, Merged, Open};
    let known = |state, is_draft, head, reviewers: &[&str]| {
        Some(polled_pull(&pull(state, is_draft, head, reviewers)))
    };
    let table = [
        (known(Open, false, 'a', &[]), pull(Open, false, 'a', &[]), at(40), ""),
        (known(Open, true, 'a', &[]), pull(Open, false, 'a', &[]), at(40), "pull.opened"),
        (known(Open, false, 'a', &[]), pull(Open, false, 'b', &[]), at(40), "pull.synchronized"),
        (
            known(Open, false, 'a', &["ada"]),
            pull(Open, false, 'a', &["ada", "bot"]),
            at(40),
            "pull.review_requested(bot)",
        ),
        (known(Open, false, 'a', &[]), pull(Closed, false, 'b', &["x"]), at(40), "pull.closed"),
        (known(Open, false, 'a', &[]), pull(Merged, false, 'a', &[]), at(40), "pull.merged"),
        (known(Merged, false, 'a', &[]), pull(Merged, false, 'a', &[]), at(40), ""),
        (known(Closed, false, 'a', &[]), pull(Open, false, 'a', &[]), at(40), ""),
        // Not known, and created since the last answer.
        (None, pull(Open, false, 'a', &["bot"]), at(10), "pull.opened, pull.review_requested(bot)"),
        (None, pull(Open, true, 'a', &[]), at(10), ""),
        (None, pull(Merged, false, 'a', &[]), None, "pull.merged"),
        // Not known, and created before the last answer.
        (None, pull(Open, false, 'a', &["bot"]), at(40), ""),
        (None, pull(Merged, false, 'a', &[]), at(40), "pull.merged"),
        (None, pull(Merged, false, 'a', &[]), at(46), ""),
    ];
    for (known, listed, since, expected) in table {
        let found = words(&pull_changes(known.as_ref(), &listed, since));
        assert_eq!(found, expected, "{known:?} {listed:?} {since:?}");
    }
}
