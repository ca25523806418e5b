//! The API clients of all forges, against a forge on the loopback address.

use std::sync::Arc;
use std::time::Duration;

use segue_core::model::{
    CiConclusion, CiLogSource, CiRun, CommitId, ForgeSubject, ForgeUser, PullState,
    RepositoryAddress, RepositoryPermission, ReviewVerdict, SecretText, SubjectChange, UserKind,
};
use segue_core::ports::{
    CommentSearch, ForgeAccess, ForgeApi, ForgeFault, ListPage, ListQuery, ListScope,
};
use segue_fakes::FakeClock;
use segue_testkit::ForgeServer;
use segue_testkit::forge_server::DeliveredDetail;

use crate::support::{FORGES, TestDelivery, forge};

pub(crate) const TOKEN: &str = "token-0123456789abcdef";
pub(crate) const NAME: &str = "team/app";

/// A server with the repository `team/app` and the user `ada`, and a client.
pub(crate) struct ApiScene {
    pub(crate) server: ForgeServer,
    pub(crate) api: Arc<dyn ForgeApi>,
    pub(crate) repository: RepositoryAddress,
    pub(crate) ada: ForgeUser,
    pub(crate) clock: Arc<FakeClock>,
}

impl ApiScene {
    pub(crate) fn new(id: &str) -> Self {
        Self::with(id, TOKEN, Duration::from_secs(20))
    }

    pub(crate) fn with(id: &str, token: &str, timeout: Duration) -> Self {
        let server = ForgeServer::start(TOKEN);
        let (repository, ada) = server.change(|forge| {
            let ada = forge.add_user("ada");
            (forge.add_repository(NAME, "https://git.example.org/team/app.git").address(), ada)
        });
        let clock = Arc::new(FakeClock::default());
        let access = ForgeAccess {
            url: server.api_url(id),
            token: SecretText::new(token),
            timeout,
            clock: clock.clone(),
            pace: None,
        };
        let api = forge(id).api(&access).unwrap();
        Self { server, api, repository, ada, clock }
    }

    fn run(&self, jobs: &[(&str, bool, &[u8])]) -> CiRun {
        let id = self.server.change(|forge| forge.add_run(NAME, jobs));
        CiRun {
            name: "tests".into(),
            sha: None,
            branch: None,
            conclusion: CiConclusion::Failed,
            detail: String::new(),
            log: CiLogSource::Run(id),
            pulls: Vec::new(),
            web_url: String::new(),
        }
    }
}

#[tokio::test]
async fn account_and_permissions_are_read() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        let account = scene.api.own_account().await.unwrap();
        assert_eq!((account.id, account.login.as_str()), (1, "segue-bot"), "{id}");
        for permission in RepositoryPermission::ALL {
            scene.server.change(|forge| {
                let repository = forge.repository(NAME);
                repository.permissions.insert("ada".into(), *permission);
            });
            let found = scene.api.permission(&scene.repository, &scene.ada).await.unwrap();
            assert_eq!(found, *permission, "{id}");
        }
        let stranger = ForgeUser { id: 77, login: "stranger".into(), kind: UserKind::Person };
        let found = scene.api.permission(&scene.repository, &stranger).await.unwrap();
        assert_eq!(found, RepositoryPermission::None, "{id}");
    }
}

#[tokio::test]
async fn renamed_user_has_no_permission_of_the_new_owner_of_the_login() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        scene.server.change(|forge| {
            forge.repository(NAME).permissions.insert("ada".into(), RepositoryPermission::Admin);
        });
        let earlier = ForgeUser { id: 78, ..scene.ada.clone() };
        let found = scene.api.permission(&scene.repository, &earlier).await.unwrap();
        assert_eq!(found, RepositoryPermission::None, "{id}");
        // Without an id, the login decides.
        let by_login = ForgeUser { id: 0, ..scene.ada.clone() };
        let found = scene.api.permission(&scene.repository, &by_login).await.unwrap();
        assert_eq!(found, RepositoryPermission::Admin, "{id}");
    }
}

#[tokio::test]
async fn issue_and_pull_request_are_read_as_they_are_stored() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        let (issue, pull) = scene.server.change(|forge| {
            let issue = forge.add_issue(NAME, "Crash", &["ada", "segue-bot"]);
            let pull = forge.add_pull(NAME, "fix", "Fixes #1");
            let repository = forge.repository(NAME);
            let stored = repository.issues.get_mut(&issue).unwrap();
            stored.labels = vec!["bug".into()];
            stored.is_open = false;
            let issue = stored.clone();
            let stored = repository.pulls.get_mut(&pull).unwrap();
            stored.head_sha = CommitId::parse(&"ab".repeat(20)).ok();
            stored.state = PullState::Merged;
            stored.is_fork = true;
            (issue, stored.clone())
        });
        assert_eq!(scene.api.issue(&scene.repository, issue.number).await.unwrap(), issue, "{id}");
        let mut found = scene.api.pull(&scene.repository, pull.number).await.unwrap();
        let expected_ref =
            if id == "gitlab" { "refs/merge-requests/2/head" } else { "refs/pull/2/head" };
        assert_eq!(found.head_ref.unwrap().as_str(), expected_ref, "{id}");
        found.head_ref = pull.head_ref.clone();
        assert_eq!(found, pull, "{id}");
        let missing = scene.api.issue(&scene.repository, 99).await.unwrap_err();
        assert_eq!(missing.fault, ForgeFault::NotFound, "{id}");
        assert!(missing.to_string().contains("issue #99 of team/app"), "{missing}");
    }
}

#[tokio::test]
async fn comments_of_all_pages_are_listed_oldest_first_since_a_time() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        let (subject, since) = scene.server.change(|forge| {
            forge.page_items = 2;
            let subject = ForgeSubject::Issue(forge.add_issue(NAME, "Crash", &[]));
            for number in 0..3 {
                forge.add_comment(NAME, subject, "ada", &format!("old {number}"));
            }
            let since = forge.add_comment(NAME, subject, "ada", "new 0").created_at;
            for number in 1..4 {
                forge.add_comment(NAME, subject, "ada", &format!("new {number}"));
            }
            (subject, since)
        });
        let bodies = |comments: Vec<segue_core::model::ForgeComment>| -> Vec<String> {
            comments.into_iter().map(|it| it.body).collect()
        };
        let all = scene.api.comments(&scene.repository, subject, None).await.unwrap();
        assert_eq!(all.len(), 7, "{id}");
        assert_eq!(all[0].author, Some(scene.ada.clone()), "{id}");
        let new = scene.api.comments(&scene.repository, subject, since).await.unwrap();
        assert_eq!(bodies(new), ["new 0", "new 1", "new 2", "new 3"], "{id}");
    }
}

#[tokio::test]
async fn reviews_have_their_verdicts_and_line_comments() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        let (number, since) = scene.server.change(|forge| {
            forge.add_user("bob");
            forge.page_items = 1;
            let number = forge.add_pull(NAME, "fix", "");
            let lines = [("src/a.rs", 3, "why?"), ("src/b.rs", 9, "typo")];
            forge.add_review(NAME, number, ("ada", ReviewVerdict::ChangesRequested), &lines);
            let since = forge.tick();
            forge.add_review(NAME, number, ("bob", ReviewVerdict::Commented), &[("c.rs", 1, "hm")]);
            (number, since)
        });
        let reviews = scene.api.reviews(&scene.repository, number, None).await.unwrap();
        let verdicts: Vec<_> = reviews.iter().map(|it| it.verdict).collect();
        assert_eq!(verdicts, [ReviewVerdict::ChangesRequested, ReviewVerdict::Commented], "{id}");
        let places =
            |review: &segue_core::model::ForgeReview| -> Vec<(String, Option<u32>, String)> {
                let place = |it: &segue_core::model::ForgeComment| {
                    let place = it.place.clone().unwrap();
                    (place.path, place.line, it.body.clone())
                };
                review.comments.iter().map(place).collect()
            };
        let expected = [
            ("src/a.rs".into(), Some(3), "why?".into()),
            ("src/b.rs".into(), Some(9), "typo".into()),
        ];
        assert_eq!(places(&reviews[0]), expected, "{id}");
        let new = scene.api.reviews(&scene.repository, number, Some(since)).await.unwrap();
        assert_eq!(new.last().unwrap().author.as_ref().unwrap().login, "bob", "{id}");
        assert_eq!(places(new.last().unwrap()), [("c.rs".into(), Some(1), "hm".into())], "{id}");
        let old_lines: usize = new[..new.len() - 1].iter().map(|it| it.comments.len()).sum();
        assert_eq!(old_lines, 0, "{id}");
    }
}

#[tokio::test]
async fn assigned_issues_are_paged_and_pull_requests_left_out() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        scene.server.change(|forge| {
            forge.page_items = 2;
            for number in 0..3 {
                forge.add_issue(NAME, &format!("ours {number}"), &["segue-bot"]);
                forge.add_issue(NAME, "theirs", &["ada"]);
            }
            forge.add_pull(NAME, "fix", "");
        });
        let mut titles = Vec::new();
        let mut query = ListQuery::default();
        loop {
            let page = scene.api.assigned_issues(&query).await.unwrap();
            let ListPage::Page { items: issues, next, .. } = page else { panic!("{id}") };
            assert!(issues.iter().all(|it| it.repository == scene.repository), "{id}");
            titles.extend(issues.into_iter().map(|it| it.issue.title));
            match next {
                Some(page) => query.page = Some(page),
                None => break,
            }
        }
        assert_eq!(titles, ["ours 0", "ours 1", "ours 2"], "{id}");
        let since = scene.server.change(|forge| forge.tick());
        let query = ListQuery { since: Some(since), ..ListQuery::default() };
        let page = scene.api.assigned_issues(&query).await.unwrap();
        assert!(matches!(page, ListPage::Page { items: issues, .. } if issues.is_empty()));
    }
}

#[tokio::test]
async fn unchanged_list_is_not_modified_where_the_forge_has_etags() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        scene.server.change(|forge| forge.add_issue(NAME, "ours", &["segue-bot"]));
        let page = scene.api.assigned_issues(&ListQuery::default()).await.unwrap();
        let ListPage::Page { etag, .. } = page else { panic!("{id}") };
        assert_eq!(etag.is_some(), id == "github", "{id}");
        let query = ListQuery { etag: etag.clone(), ..ListQuery::default() };
        let again = scene.api.assigned_issues(&query).await.unwrap();
        assert_eq!(again == ListPage::NotModified, id == "github", "{id}");
        scene.server.change(|forge| forge.add_issue(NAME, "new", &["segue-bot"]));
        let changed = scene.api.assigned_issues(&query).await.unwrap();
        assert!(
            matches!(changed, ListPage::Page { items: issues, .. } if issues.len() == 2),
            "{id}"
        );
    }
}

#[tokio::test]
async fn end_of_the_first_failed_jobs_log_is_read() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        let long = "line\n".repeat(100_000) + "error: \u{fc}ber";
        let run = scene.run(&[
            ("build", true, long.as_bytes()),
            ("lint", true, b"x"),
            ("ok", false, b"y"),
        ]);
        let log = scene.api.failed_log(&scene.repository, &run, 20).await.unwrap().unwrap();
        assert_eq!((log.job.as_str(), log.other_failed_jobs), ("build", 1), "{id}");
        assert_eq!((log.tail.as_str(), log.is_cut), ("ne\nline\nerror: \u{fc}ber", true), "{id}");
        // The first byte of the tail is in the middle of a character.
        let log = scene.api.failed_log(&scene.repository, &run, 4).await.unwrap().unwrap();
        assert_eq!(log.tail, "ber", "{id}");
        let whole = scene.run(&[("short", true, b"only this")]);
        let log = scene.api.failed_log(&scene.repository, &whole, 1000).await.unwrap().unwrap();
        assert_eq!((log.tail.as_str(), log.is_cut), ("only this", false), "{id}");
        let gone = CiRun { log: CiLogSource::Run(1), ..run.clone() };
        assert_eq!(scene.api.failed_log(&scene.repository, &gone, 10).await.unwrap(), None, "{id}");
        let none = CiRun { log: CiLogSource::None, ..run };
        assert_eq!(scene.api.failed_log(&scene.repository, &none, 10).await.unwrap(), None, "{id}");
    }
}

#[tokio::test]
async fn log_on_another_server_is_read_without_the_token() {
    let scene = ApiScene::new("github");
    let run = scene.run(&[("build", true, b"error")]);
    let log = scene.api.failed_log(&scene.repository, &run, 100).await.unwrap().unwrap();
    assert_eq!(log.tail, "error");
    let requests = scene.server.requests();
    let storage = requests.iter().find(|it| it.path.starts_with("/storage")).unwrap();
    assert_eq!((storage.authorization.as_deref(), storage.status), (None, 200));
}

#[tokio::test]
async fn summary_of_a_failed_check_replaces_its_log() {
    let scene = ApiScene::new("github");
    let run = scene.run(&[("lint", true, b"2 warnings")]);
    let CiLogSource::Run(id) = run.log else { panic!() };
    let suite = CiRun { log: CiLogSource::Suite(id), ..run };
    let log = scene.api.failed_log(&scene.repository, &suite, 1000).await.unwrap().unwrap();
    assert_eq!((log.job.as_str(), log.tail.as_str()), ("lint", "Result\n\n2 warnings"));
}

#[tokio::test]
async fn posted_comment_is_found_by_its_marker_and_author() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        let (issue, pull) = scene.server.change(|forge| {
            forge.page_items = 2;
            let issue = ForgeSubject::Issue(forge.add_issue(NAME, "Crash", &[]));
            let pull = ForgeSubject::Pull(forge.add_pull(NAME, "fix", ""));
            for subject in [issue, pull] {
                for _ in 0..5 {
                    forge.add_comment(NAME, subject, "ada", "<!-- segue:7 -->");
                }
            }
            (issue, pull)
        });
        let account = scene.api.own_account().await.unwrap();
        let search = CommentSearch { marker: "<!-- segue:7 -->", author: &account, since: None };
        for subject in [issue, pull] {
            let find = || scene.api.find_comment(&scene.repository, subject, &search);
            assert_eq!(find().await.unwrap(), None, "{id} {subject}");
            let body = "Done \u{fc}.\n\n<!-- segue:7 -->";
            let posted = scene.api.post_comment(&scene.repository, subject, body).await.unwrap();
            assert_eq!(posted.body, body, "{id}");
            assert_eq!(find().await.unwrap().map(|it| it.id), Some(posted.id), "{id} {subject}");
            let stored = scene.server.comments(NAME, subject);
            assert_eq!(stored.iter().filter(|it| it.body == body).count(), 1, "{id}");
        }
        assert_eq!(scene.server.count("POST", ""), 2, "{id}");
    }
}

#[tokio::test]
async fn search_that_ends_before_the_last_page_is_no_proof_of_absence() {
    for id in FORGES.into_iter().filter(|id| *id == "github" || *id == "gitlab") {
        let scene = ApiScene::new(id);
        let subject = scene.server.change(|forge| {
            forge.page_items = 1;
            let subject = ForgeSubject::Issue(forge.add_issue(NAME, "Crash", &[]));
            for _ in 0..30 {
                forge.add_comment(NAME, subject, "ada", "text");
            }
            subject
        });
        let search = CommentSearch { marker: "missing", author: &scene.ada, since: None };
        let failure =
            scene.api.find_comment(&scene.repository, subject, &search).await.unwrap_err();
        assert_eq!(failure.fault, ForgeFault::TooManyPages(20), "{id}");
        // The time bounds the search.
        let since = Some(scene.server.change(|forge| forge.now));
        let search = CommentSearch { since, ..search };
        let found = scene.api.find_comment(&scene.repository, subject, &search).await.unwrap();
        assert_eq!(found, None, "{id}");
    }
}

#[tokio::test]
async fn issues_that_a_pull_request_closes_are_found() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        let number = scene.server.change(|forge| {
            forge.add_issue(NAME, "one", &[]);
            forge.add_issue(NAME, "two", &[]);
            forge.add_pull(NAME, "fix", "Fixes #2, closes other/app#1")
        });
        assert_eq!(scene.api.closed_by(&scene.repository, number).await.unwrap(), [2], "{id}");
    }
}

#[tokio::test]
async fn renamed_repository_is_followed_on_the_same_server() {
    for id in ["github", "gitea"] {
        let scene = ApiScene::new(id);
        let number = scene.server.change(|forge| {
            forge.renamed.insert("old/name".into(), NAME.into());
            forge.add_issue(NAME, "Crash", &[])
        });
        let old = RepositoryAddress { full_name: "old/name".into(), ..scene.repository.clone() };
        assert_eq!(scene.api.issue(&old, number).await.unwrap().title, "Crash", "{id}");
        let subject = ForgeSubject::Issue(number);
        scene.api.post_comment(&old, subject, "hello").await.unwrap();
        assert_eq!(scene.server.comments(NAME, subject).len(), 1, "{id}");
    }
}

#[tokio::test]
async fn name_that_leaves_its_path_is_not_requested() {
    for name in ["../admin", "team/..", "team//x", ""] {
        let scene = ApiScene::new("gitea");
        let strange = RepositoryAddress { id: 1, full_name: name.into() };
        let failure = scene.api.issue(&strange, 1).await.unwrap_err();
        assert_eq!(failure.fault, ForgeFault::NotFound, "{name}");
        assert!(scene.server.requests().is_empty(), "{name}");
    }
}

#[test]
fn deliveries_of_the_test_server_are_verified_and_read() {
    let scene = ApiScene::new("github");
    let secret = "secret";
    let deliveries = scene.server.change(|forge| {
        let issue = ForgeSubject::Issue(forge.add_issue(NAME, "Crash", &["segue-bot"]));
        let pull = forge.add_pull(NAME, "fix", "Fixes #1");
        let comment = forge.add_comment(NAME, issue, "ada", "why?");
        let verdict = ("ada", ReviewVerdict::ChangesRequested);
        let review = forge.add_review(NAME, pull, verdict, &[("a.rs", 3, "typo")]);
        let pull = ForgeSubject::Pull(pull);
        let mut send = |subject, event, action, detail| {
            forge.delivery((NAME, subject), (event, action, "ada"), detail, secret)
        };
        [
            send(issue, "issues", "assigned", DeliveredDetail::Assignee("segue-bot")),
            send(issue, "issues", "labeled", DeliveredDetail::Label("bug")),
            send(issue, "issues", "closed", DeliveredDetail::None),
            send(issue, "issue_comment", "created", DeliveredDetail::Comment(&comment)),
            send(pull, "issue_comment", "created", DeliveredDetail::Comment(&comment)),
            send(pull, "pull_request_review", "submitted", DeliveredDetail::Review(&review)),
            send(pull, "pull_request", "closed", DeliveredDetail::None),
        ]
    });
    let read: Vec<String> = deliveries
        .map(|it| {
            let delivery = TestDelivery { forge: "github", headers: it.headers, body: it.body };
            assert_eq!(delivery.verify(secret), Ok(()));
            let event = delivery.event();
            assert_eq!(event.actor, Some(scene.ada.clone()));
            assert_eq!(event.repository.address(), scene.repository);
            event.trigger.word().to_owned()
        })
        .into();
    let expected = [
        "issue.assigned",
        "issue.labeled",
        "issue.closed",
        "issue.commented",
        "pull.commented",
        "pull.review_submitted",
        "pull.closed",
    ];
    assert_eq!(read, expected);
}

/// Reads all pages of a list.
macro_rules! all_pages {
    ($scene:expr, $method:ident, $scope:expr, $since:expr) => {{
        let (mut all, mut page) = (Vec::new(), None);
        loop {
            let query = ListQuery { since: $since, page, etag: None };
            let answer = $scene.api.$method(&$scene.repository, $scope, &query).await.unwrap();
            let ListPage::Page { items, next, .. } = answer else { panic!("{answer:?}") };
            all.extend(items);
            match next {
                Some(_) => page = next,
                None => break all,
            }
        }
    }};
}

#[tokio::test]
async fn issues_and_pull_requests_are_listed_with_their_times_and_reviewers() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        let (issue, pull, since) = scene.server.change(|forge| {
            forge.page_items = 1;
            let old = forge.add_issue(NAME, "Old", &[]);
            forge.add_pull(NAME, "old", "");
            forge.change_subject((NAME, ForgeSubject::Issue(old)), ("closed", ""), "ada");
            let since = forge.tick();
            let issue = forge.add_issue(NAME, "New", &["ada"]);
            let pull = forge.add_pull(NAME, "fix", "");
            let subject = (NAME, ForgeSubject::Pull(pull));
            forge.change_subject(subject, ("review_requested", "ada"), "segue-bot");
            (issue, pull, since)
        });
        let listed = all_pages!(scene, changed_issues, ListScope::All, Some(since));
        let new: Vec<_> = listed.iter().filter(|it| it.issue.updated_at >= Some(since)).collect();
        assert_eq!(new.iter().map(|it| it.issue.number).collect::<Vec<_>>(), [issue], "{id}");
        assert!(new[0].created_at > Some(since) && new[0].closed_at.is_none(), "{id}");
        let all = all_pages!(scene, changed_issues, ListScope::All, None);
        let closed = all.iter().find(|it| !it.issue.is_open).unwrap();
        assert!(all.len() == 2 && closed.closed_at.is_some(), "{id}: {all:?}");
        let open = all_pages!(scene, changed_issues, ListScope::Open, None);
        assert_eq!(open.len(), 1, "{id}: {open:?}");
        let pulls = all_pages!(scene, changed_pulls, ListScope::All, Some(since));
        assert_eq!(pulls[0].pull.number, pull, "{id}: the last changed one is the first");
        assert_eq!(pulls[0].reviewers[0].login, "ada", "{id}");
        let open = all_pages!(scene, changed_pulls, ListScope::Open, None);
        assert_eq!(open.len(), 2, "{id}: {open:?}");
    }
}

#[tokio::test]
async fn unchanged_list_is_not_sent_again_by_github() {
    let scene = ApiScene::new("github");
    scene.server.change(|forge| forge.add_pull(NAME, "fix", ""));
    let list = async |etag| {
        let query = ListQuery { etag, ..ListQuery::default() };
        scene.api.changed_pulls(&scene.repository, ListScope::All, &query).await.unwrap()
    };
    let ListPage::Page { etag, .. } = list(None).await else { panic!("no page") };
    assert!(etag.is_some());
    assert_eq!(list(etag.clone()).await, ListPage::NotModified);
    scene.server.change(|forge| forge.add_pull(NAME, "other", ""));
    assert!(matches!(list(etag).await, ListPage::Page { items, .. } if items.len() == 2));
}

#[tokio::test]
async fn author_of_a_change_is_found_in_the_history() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        let (issue, pull, later) = scene.server.change(|forge| {
            let issue = ForgeSubject::Issue(forge.add_issue(NAME, "Crash", &[]));
            let pull = ForgeSubject::Pull(forge.add_pull(NAME, "fix", ""));
            forge.change_subject((NAME, issue), ("labeled", "bug"), "ada");
            forge.change_subject((NAME, issue), ("closed", ""), "ada");
            forge.change_subject((NAME, issue), ("reopened", ""), "ada");
            forge.change_subject((NAME, pull), ("review_requested", "segue-bot"), "ada");
            forge.change_subject((NAME, pull), ("merged", ""), "ada");
            (issue, pull, forge.tick())
        });
        let bot = ForgeUser { id: 0, login: "segue-bot".into(), kind: UserKind::Person };
        let table = [
            (issue, SubjectChange::Labeled("bug".into()), true),
            (issue, SubjectChange::Labeled("other".into()), false),
            (issue, SubjectChange::Closed, true),
            (issue, SubjectChange::Reopened, true),
            (pull, SubjectChange::ReviewRequested(bot), true),
            (pull, SubjectChange::ReviewRequested(scene.ada.clone()), false),
            (pull, SubjectChange::Closed, true),
            (pull, SubjectChange::Reopened, false),
        ];
        for (subject, change, is_found) in table {
            let author =
                |since| scene.api.author_of_change(&scene.repository, subject, &change, since);
            let found = author(None).await.unwrap().map(|user| user.login);
            assert_eq!(found.as_deref(), is_found.then_some("ada"), "{id}: {change:?}");
            assert_eq!(author(Some(later)).await.unwrap(), None, "{id}: {change:?}");
        }
    }
}

#[tokio::test]
async fn newest_finished_run_of_each_name_is_listed_for_a_branch() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        scene.server.change(|forge| {
            forge.finish_run(NAME, "coder/issue-7", ("tests", true));
            forge.finish_run(NAME, "coder/issue-7", ("tests", false));
            forge.finish_run(NAME, "coder/issue-7", ("lints", true));
            forge.finish_run(NAME, "main", ("tests", true));
        });
        let runs = scene.api.finished_runs(&scene.repository, "coder/issue-7").await.unwrap();
        let runs: Vec<_> =
            runs.iter().map(|it| (it.run.name.as_str(), it.run.conclusion)).collect();
        let expected = [("lints", CiConclusion::Failed), ("tests", CiConclusion::Succeeded)];
        assert_eq!(runs, expected, "{id}");
        assert_eq!(scene.api.finished_runs(&scene.repository, "none").await.unwrap(), [], "{id}");
    }
}

#[tokio::test]
async fn repository_is_found_by_its_name() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        let found = scene.api.repository_named(NAME).await.unwrap();
        assert_eq!(found.address(), scene.repository, "{id}");
        let missing = scene.api.repository_named("team/none").await.unwrap_err();
        assert_eq!(missing.fault, ForgeFault::NotFound, "{id}");
    }
}
