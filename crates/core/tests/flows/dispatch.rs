//! Deliveries, what they start, and replies.

use std::sync::Arc;

use jiff::Timestamp;
use segue_core::flows::deliveries;
use segue_core::flows::dispatch::{
    self, DispatchContext, DispatchDecision, ListEtags, polled_news,
};
use segue_core::flows::replies;
use segue_core::model::{
    AgentName, AllowedActors, CiConclusion, CiLogSource, CiRun, DeliveryHeaders,
    DispatchConditions, DispatchRule, EventChanges, ForgeEvent, ForgeIssue, ForgePull, ForgeReply,
    ForgeRepository, ForgeSubject, ForgeUser, ListedIssue, ListedPull, PolledRepository, PullState,
    ReplyId, ReplyState, ReplyTarget, RepositoryAddress, RepositoryPermission, RepositoryUrl,
    SourceName, TaskId, TrackedIssue, TriggerKind, UserKind,
};
use segue_core::ports::{Change, Commit, Ports};
use segue_core::{Kind, Result};
use segue_fakes::{FakeWorld, samples};
use uuid::Uuid;

use crate::tasks::trust_project;

fn hub() -> SourceName {
    SourceName::parse("hub").unwrap()
}

fn user(id: i64, login: &str) -> ForgeUser {
    ForgeUser { id, login: login.into(), kind: UserKind::Person }
}

/// Returns a world with a trusted project that has the agent `coder`. `ada` may write.
async fn world() -> FakeWorld {
    let world = FakeWorld::new();
    world.projects.write(samples::project(&["coder"]));
    trust_project(&world.ports()).await;
    world.forges.change(|state| {
        let key = ("team/app".to_owned(), "ada".to_owned());
        state.permissions.insert(key, RepositoryPermission::Write);
    });
    world
}

fn rule(on: TriggerKind) -> DispatchRule {
    DispatchRule {
        number: 1,
        on,
        source: hub(),
        folder: samples::CWD.into(),
        when: DispatchConditions::default(),
        agent: AgentName::parse("coder").unwrap(),
        prompt: None,
        verify: None,
        reply: true,
        who: AllowedActors::Write,
        repo: None,
    }
}

async fn context(world: &FakeWorld, rules: Vec<DispatchRule>) -> DispatchContext {
    let ports = world.ports();
    let api = ports.sources.api(&hub()).await.unwrap();
    DispatchContext {
        rules,
        account: Some(api.own_account().await.unwrap()),
        api: Some(api),
        environment: samples::environment(),
        permissions: Arc::default(),
        tracked: ports.store.tracked_issues(None).await.unwrap(),
    }
}

fn event(trigger: TriggerKind, actor: &str) -> ForgeEvent {
    let repository = ForgeRepository {
        id: 9,
        full_name: "team/app".into(),
        clone_url: RepositoryUrl::parse("https://hub.example.org/team/app.git").ok(),
        web_url: "https://hub.example.org/team/app".into(),
        default_branch: Some("main".into()),
    };
    let changes = EventChanges { assignees: vec![user(1, "segue-bot")], ..EventChanges::default() };
    ForgeEvent { actor: Some(user(5, actor)), changes, ..ForgeEvent::new(trigger, repository) }
}

fn issue(number: u64) -> ForgeIssue {
    ForgeIssue {
        id: number,
        number,
        title: "Parser".into(),
        body: "It fails.".into(),
        web_url: String::new(),
        is_open: true,
        author: Some(user(6, "eve")),
        labels: Vec::new(),
        assignees: Vec::new(),
        updated_at: None,
    }
}

fn assigned(actor: &str) -> ForgeEvent {
    ForgeEvent { issue: Some(issue(7)), ..event(TriggerKind::IssueAssigned, actor) }
}

fn pull(branch: &str, body: &str, is_fork: bool) -> ForgePull {
    ForgePull {
        id: 12,
        number: 12,
        title: "Parser".into(),
        body: body.into(),
        web_url: String::new(),
        state: PullState::Open,
        is_draft: false,
        author: None,
        labels: Vec::new(),
        assignees: Vec::new(),
        head_branch: branch.into(),
        base_branch: "main".into(),
        head_sha: None,
        is_fork,
        head_ref: None,
        updated_at: None,
    }
}

/// Returns the decisions in words.
async fn decided(world: &FakeWorld, rules: Vec<DispatchRule>, event: &ForgeEvent) -> Vec<String> {
    let context = context(world, rules).await;
    words(dispatch::decide(&world.ports(), &context, event).await).unwrap()
}

fn words(decisions: Result<Vec<DispatchDecision>>) -> Result<Vec<String>> {
    let word = |decision: DispatchDecision| match decision {
        DispatchDecision::AddTask { agent, task } => {
            format!("{agent}: issue {}", task.request.issue.unwrap())
        }
        DispatchDecision::Refuse { reason, .. } => reason,
        DispatchDecision::Close(tracked) => format!("close {}", tracked.issue.as_str()),
        DispatchDecision::Link(tracked) => format!("link {:?}", tracked.pulls),
        DispatchDecision::Reopen(tracked) => format!("reopen {}", tracked.issue.as_str()),
    };
    decisions.map(|all| all.into_iter().map(word).collect())
}

#[tokio::test]
async fn genuine_delivery_is_stored_once_and_a_forged_one_not_at_all() {
    let world = world().await;
    let ports = world.ports();
    let headers = |secret: &str| {
        DeliveryHeaders::new([("x-secret", secret.as_bytes()), ("x-delivery", b"d1")])
    };
    let forged = deliveries::receive(&ports, &hub(), &headers("wrong"), b"{}".to_vec()).await;
    assert_eq!(forged.unwrap_err().kind, Kind::Unauthorized);
    let first = deliveries::receive(&ports, &hub(), &headers("hush"), b"{}".to_vec()).await;
    let again = deliveries::receive(&ports, &hub(), &headers("hush"), b"{}".to_vec()).await;
    let (first, again) = (first.unwrap(), again.unwrap());
    assert_eq!((first.is_new, again.is_new, again.id), (true, false, first.id));
    let stored = ports.store.delivery(first.id).await.unwrap().unwrap();
    assert!(!stored.headers.has("x-secret"), "{stored:?}");
    let unknown = SourceName::parse("lab").unwrap();
    let refused = deliveries::receive(&ports, &unknown, &headers("hush"), Vec::new()).await;
    assert_eq!(refused.unwrap_err().kind, Kind::NotFound);
}

#[tokio::test]
async fn only_people_with_write_access_start_a_task_and_the_forge_is_asked_once() {
    let world = world().await;
    let rules = || vec![rule(TriggerKind::IssueAssigned)];
    assert_eq!(decided(&world, rules(), &assigned("ada")).await, ["coder: issue 7"]);
    let refused = decided(&world, rules(), &assigned("eve")).await;
    assert_eq!(refused, ["`eve` has no write access"]);
    let context = context(&world, rules()).await;
    let before = world.calls.count("forges.permission");
    for _ in 0..3 {
        dispatch::decide(&world.ports(), &context, &assigned("ada")).await.unwrap();
    }
    assert_eq!(world.calls.count("forges.permission"), before + 1);
    let closed = ForgeIssue { is_open: false, ..issue(7) };
    let event = ForgeEvent { issue: Some(closed), ..assigned("ada") };
    assert_eq!(decided(&world, rules(), &event).await, ["the issue is closed"]);
}

#[tokio::test]
async fn forge_that_cannot_be_asked_decides_nothing() {
    let world = world().await;
    let context = context(&world, vec![rule(TriggerKind::IssueAssigned)]).await;
    let fault = Some(segue_core::ports::ForgeFault::TimedOut);
    world.forges.change(|state| state.fault = fault);
    let error = dispatch::decide(&world.ports(), &context, &assigned("ada")).await.unwrap_err();
    assert_eq!(error.kind, Kind::Unavailable);
}

/// Records the issue 7 as tracked.
async fn track(ports: &Ports, pulls: Vec<u64>) {
    let address = event(TriggerKind::Push, "ada").repository.address();
    let tracked = TrackedIssue {
        source: hub(),
        address,
        subject: ForgeSubject::Issue(7),
        repository: RepositoryUrl::parse("https://hub.example.org/team/app").unwrap().id(),
        issue: segue_core::model::IssueRef::parse("7").unwrap(),
        closed_at: None,
        needs_cleanup: false,
        seen_until: None,
        pulls,
    };
    let changes = vec![Change::PutTrackedIssue(Box::new(tracked))];
    ports.store.commit(Commit { changes, events: Vec::new() }).await.unwrap();
}

#[tokio::test]
async fn pull_request_belongs_to_the_issue_that_it_closes_links_or_was_made_for() {
    let world = world().await;
    track(&world.ports(), vec![12]).await;
    let rules = || vec![rule(TriggerKind::PullCommented)];
    let about = |pull| ForgeEvent { pull: Some(pull), ..event(TriggerKind::PullCommented, "ada") };
    let table = [
        (ForgePull { number: 12, ..pull("x", "", true) }, "coder: issue 7"),
        (ForgePull { number: 13, ..pull("x", "fixes #8", false) }, "coder: issue 8"),
        (
            ForgePull {
                number: 14,
                ..pull("x", "https://hub.example.org/team/app/issues/9", false)
            },
            "coder: issue 9",
        ),
        (ForgePull { number: 15, ..pull("x", "", false) }, "coder: issue pull-15"),
    ];
    for (pull, expected) in table {
        assert_eq!(decided(&world, rules(), &about(pull.clone())).await, [expected], "{pull:?}");
    }
}

#[tokio::test]
async fn closed_issue_ends_the_work_but_the_pull_request_of_a_stranger_does_not() {
    let world = world().await;
    track(&world.ports(), Vec::new()).await;
    let closed = ForgeIssue { is_open: false, ..issue(7) };
    let event_of = |trigger| ForgeEvent { issue: Some(closed.clone()), ..event(trigger, "eve") };
    let close = event_of(TriggerKind::IssueClosed);
    assert_eq!(decided(&world, Vec::new(), &close).await, ["close 7"]);
    let reopen = event_of(TriggerKind::IssueReopened);
    assert_eq!(decided(&world, Vec::new(), &reopen).await, ["reopen 7"]);
    let stranger = ForgePull { state: PullState::Closed, ..pull("x", "closes #7", true) };
    let event = ForgeEvent { pull: Some(stranger), ..event(TriggerKind::PullClosed, "eve") };
    assert_eq!(decided(&world, Vec::new(), &event).await, Vec::<String>::new());
}

#[tokio::test]
async fn failed_run_of_a_foreign_branch_starts_nothing() {
    let world = world().await;
    let run = CiRun {
        name: "build".into(),
        sha: None,
        branch: Some("main".into()),
        conclusion: CiConclusion::Failed,
        detail: String::new(),
        log: CiLogSource::None,
        pulls: vec![12],
        web_url: String::new(),
    };
    track(&world.ports(), vec![12]).await;
    let event = ForgeEvent { ci: Some(run), ..event(TriggerKind::CiFailed, "ada") };
    let refused = decided(&world, vec![rule(TriggerKind::CiFailed)], &event).await;
    assert_eq!(refused, ["the CI run is not about the branch of an agent"]);
}

#[tokio::test]
async fn reply_whose_answer_was_lost_is_not_written_again() {
    let world = world().await;
    let ports = world.ports();
    let reply = ForgeReply {
        id: ReplyId::new(Uuid::from_u128(1)),
        task: TaskId::new(Uuid::from_u128(2)),
        target: ReplyTarget {
            source: hub(),
            repository: event(TriggerKind::Push, "ada").repository.address(),
            subject: ForgeSubject::Issue(7),
        },
        text: "Done.".into(),
        state: ReplyState::Waiting,
        attempts: 0,
        error: None,
        created_at: ports.clock.now(),
    };
    let changes = vec![Change::AddReply(Box::new(reply))];
    ports.store.commit(Commit { changes, events: Vec::new() }).await.unwrap();
    let api = ports.sources.api(&hub()).await.unwrap();
    let account = api.own_account().await.unwrap();
    let write = async || {
        let waiting = ports.store.waiting_replies().await.unwrap();
        let Some(reply) = waiting.first() else { return Ok(()) };
        replies::write(&ports, (api.as_ref(), &account), (reply, 60_000)).await
    };
    // The forge writes the comment, and then this process dies before it can record that.
    world.calls.fail("store.commit", 2);
    assert!(write().await.is_err());
    write().await.unwrap();
    write().await.unwrap();
    let written = world.forges.change(|state| state.comments.values().map(Vec::len).sum::<usize>());
    assert_eq!(written, 1);
    assert_eq!(ports.store.waiting_replies().await.unwrap(), []);
}

fn second(second: i64) -> Option<Timestamp> {
    Timestamp::from_second(second).ok()
}

/// Lists a pull request of `ada` that was created and changed at these seconds.
fn list_pull(world: &FakeWorld, branch: &str, (created, updated): (i64, i64)) {
    let author = Some(user(5, "ada"));
    let pull = ForgePull { author, updated_at: second(updated), ..pull(branch, "", false) };
    let created_at = second(created);
    let listed = ListedPull { pull, created_at, closed_at: None, reviewers: Vec::new() };
    world.forges.change(|state| state.listed_pulls = vec![listed]);
}

/// Asks about the repository, and returns the triggers with their actors. Remembers the answer.
async fn news(
    world: &FakeWorld,
    rules: Vec<DispatchRule>,
    known: &mut Option<PolledRepository>,
) -> Vec<String> {
    let context = context(world, rules).await;
    let api = context.api.clone().unwrap();
    let address = RepositoryAddress { id: 9, full_name: "team/app".into() };
    let state = (known.clone(), ListEtags::default());
    let news = polled_news(&context, api.as_ref(), (&hub(), &address), state).await.unwrap();
    *known = Some(news.record);
    let word = |event: &ForgeEvent| {
        let actor = event.actor.as_ref().map_or("nobody", |actor| actor.login.as_str());
        format!("{} by {actor}", event.trigger.word())
    };
    news.events.iter().map(word).collect()
}

#[tokio::test]
async fn polled_pull_request_is_reported_once_when_it_is_opened_changed_and_merged() {
    let world = world().await;
    let rules = || vec![rule(TriggerKind::PullReviewRequested), rule(TriggerKind::PullMerged)];
    let mut known = None;
    list_pull(&world, "old", (10, 20));
    assert_eq!(news(&world, rules(), &mut known).await, Vec::<String>::new(), "the first answer");
    assert_eq!(news(&world, rules(), &mut known).await, Vec::<String>::new());

    world.forges.change(|state| {
        let mut new = state.listed_pulls[0].clone();
        new.pull.number = 13;
        (new.created_at, new.pull.updated_at) = (second(30), second(30));
        state.listed_pulls.push(new);
    });
    assert_eq!(news(&world, rules(), &mut known).await, ["pull.opened by ada"]);
    assert_eq!(news(&world, rules(), &mut known).await, Vec::<String>::new());

    world.forges.change(|state| {
        state.listed_pulls[1].reviewers = vec![user(1, "segue-bot")];
        state.listed_pulls[1].pull.updated_at = second(40);
        state.changers.insert(ForgeSubject::Pull(13), user(8, "bob"));
    });
    assert_eq!(news(&world, rules(), &mut known).await, ["pull.review_requested by bob"]);

    world.forges.change(|state| {
        let merged = &mut state.listed_pulls[1];
        (merged.pull.state, merged.pull.updated_at) = (PullState::Merged, second(50));
        merged.closed_at = second(50);
    });
    assert_eq!(news(&world, rules(), &mut known).await, ["pull.merged by bob"]);
    assert_eq!(news(&world, rules(), &mut known).await, Vec::<String>::new());
}

#[tokio::test]
async fn polled_comment_on_an_issue_without_a_task_is_reported_if_a_rule_is_about_comments() {
    let world = world().await;
    let mut known = None;
    let listed = |updated| ListedIssue {
        issue: ForgeIssue { updated_at: second(updated), ..issue(7) },
        created_at: second(10),
        closed_at: None,
    };
    world.forges.change(|state| {
        state.issues.insert(("team/app".into(), 7), issue(7));
        state.listed_issues = vec![listed(20)];
    });
    assert_eq!(news(&world, Vec::new(), &mut known).await, Vec::<String>::new());
    world.forges.change(|state| {
        (state.now, state.account) = (second(30).unwrap(), user(5, "ada"));
    });
    let api = world.ports().sources.api(&hub()).await.unwrap();
    let address = RepositoryAddress { id: 9, full_name: "team/app".into() };
    api.post_comment(&address, ForgeSubject::Issue(7), "Why?").await.unwrap();
    world.forges.change(|state| state.listed_issues = vec![listed(30)]);
    let before = known.clone();
    assert_eq!(news(&world, Vec::new(), &mut known).await, Vec::<String>::new(), "no rule");
    known = before;
    let rules = || vec![rule(TriggerKind::IssueCommented)];
    // The second answer may have comments of the same second. Their tasks have the same key.
    for expected in [1, 1, 0] {
        let found = news(&world, rules(), &mut known).await;
        assert_eq!(found, vec!["issue.commented by ada"; expected]);
    }
}

#[test]
fn rules_name_repositories_without_patterns() {
    let named = |name: &str| {
        let when = DispatchConditions { repository: Some(name.into()), ..Default::default() };
        DispatchRule { when, ..rule(TriggerKind::PullOpened) }
    };
    let rules = [named("team/app"), named("team/*"), named("app"), named("team/app")];
    assert_eq!(dispatch::named_repositories(&rules).into_iter().collect::<Vec<_>>(), ["team/app"]);
}
