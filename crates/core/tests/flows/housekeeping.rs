//! Disk use, old things that are removed, and conversations about issues that are dropped.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use jiff::SignedDuration;
use segue_core::Kind;
use segue_core::api::{DiskReport, ResetRequest};
use segue_core::flows::housekeeping::{
    CandidateScope, ResetTarget, asked_issues, candidates, closed_sessions, disk_plan,
    drop_targets, dropped, is_busy, next_sweep, note_level, record_next_sweep, remove,
    reset_targets,
};
use segue_core::flows::{SessionState, archive};
use segue_core::model::{
    AgentName, DiskLevel, Environment, Exit, ForgeIssue, ForgeSubject, HousekeepingKind, How,
    IssueKey, IssueRef, RepositoryAddress, RepositoryUrl, Session, SessionId, SourceName, Status,
    TaskState, TaskWait, TrackedIssue,
};
use segue_core::ports::{Change, Commit, FolderUse, ForgeFault, SessionQuery, WorktreeQuery};
use segue_core::rules::housekeeping::{DiskBudget, RemovalCandidate, SweepAges, SweepTime};
use segue_fakes::{FakeWorld, samples};

use crate::scene::FlowScene;
use crate::worktrees::{end_launch, start, stored};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn scope(ages: SweepAges) -> CandidateScope {
    CandidateScope { ages, closed: BTreeMap::new(), bytes: HashMap::new() }
}

async fn found(world: &FakeWorld) -> Vec<RemovalCandidate> {
    candidates(&world.ports(), &scope(SweepAges::default())).await.unwrap()
}

/// Returns what a sweep would remove now, by its kind.
async fn expired(world: &FakeWorld, ages: SweepAges) -> Vec<(HousekeepingKind, String)> {
    let ports = world.ports();
    let found = candidates(&ports, &scope(ages)).await.unwrap();
    let now = ports.clock.now();
    let expired = found.iter().filter_map(|it| Some((it.item.kind(), it.expiry(&ages, now)?)));
    expired.collect()
}

fn pass(world: &FakeWorld, days: i64) {
    world.clock.advance(SignedDuration::from_hours(24 * days));
}

async fn commit(world: &FakeWorld, change: Change) {
    let commit = Commit { changes: vec![change], events: Vec::new() };
    world.ports().store.commit(commit).await.unwrap();
}

/// Ends the process of a session at the request of its user.
async fn end(world: &FakeWorld, state: &SessionState) {
    end_launch(world, state).await;
    set_stopped(world, state.session.id).await;
}

async fn set_stopped(world: &FakeWorld, session: SessionId) {
    let (status, at) = (Status::Ended(How::Stopped), world.ports().clock.now());
    commit(world, Change::SetStatus { session, status, at }).await;
}

#[tokio::test]
async fn worktree_without_a_session_is_salvaged_and_removed_when_it_is_old() {
    let world = FakeWorld::new();
    let state = start(&world, "fix").await;
    let (ports, path) = (world.ports(), state.session.cwd.clone());
    assert!(found(&world).await[0].hold.as_ref().unwrap().contains("runs"));
    end(&world, &state).await;
    pass(&world, 100);
    assert_eq!(expired(&world, SweepAges::default()).await, [], "its session can come back");
    commit(&world, Change::RemoveSession(state.session.id)).await;
    let old = expired(&world, SweepAges::default()).await;
    assert_eq!(old[0].0, HousekeepingKind::Worktree);
    assert!(old[0].1.starts_with("it has no session"), "{old:?}");

    world.checkouts.change(&path);
    let candidate = found(&world).await.remove(0);
    world.calls.fail("checkouts.remove", 1);
    assert!(remove(&ports, &candidate.item, &Environment::default()).await.is_err());
    assert!(world.disk.has_folder(&path), "an error keeps everything");
    let salvage = remove(&ports, &candidate.item, &Environment::default()).await.unwrap();
    assert!(salvage.is_some());
    assert!(!world.disk.has_folder(&path));
    assert_eq!(found(&world).await, []);
}

#[tokio::test]
async fn worktree_of_a_closed_issue_is_removed_before_that_of_another_session_at_rest() {
    let world = FakeWorld::new();
    let state = start(&world, "fix").await;
    end(&world, &state).await;
    pass(&world, 8);
    let closed_at = world.ports().clock.now();
    let closed = BTreeMap::from([(state.session.id, closed_at)]);
    let scope = CandidateScope { closed, ..scope(SweepAges::default()) };
    let expiry = async || {
        let found = candidates(&world.ports(), &scope).await.unwrap();
        found[0].expiry(&SweepAges::default(), world.ports().clock.now())
    };
    assert_eq!(expiry().await, None, "the issue has just been closed");
    pass(&world, 8);
    let reason = expiry().await.unwrap();
    assert!(reason.starts_with("its issue is closed"), "{reason}");
}

#[tokio::test]
async fn session_of_an_issue_that_the_store_knows_as_closed_is_found() {
    let world = FakeWorld::new();
    let session = with_issue(&world).await;
    let closed_at = world.ports().clock.now();
    let mut issue = TrackedIssue {
        source: SourceName::parse("hub").unwrap(),
        address: RepositoryAddress { id: 1, full_name: "team/app".to_owned() },
        subject: ForgeSubject::Issue(17),
        repository: RepositoryUrl::parse(URL).unwrap().id(),
        issue: IssueRef::parse("17").unwrap(),
        closed_at: None,
        needs_cleanup: false,
        seen_until: None,
        pulls: Vec::new(),
    };
    for (state, expected) in [(None, None), (Some(closed_at), Some(closed_at))] {
        issue.closed_at = state;
        commit(&world, Change::PutTrackedIssue(Box::new(issue.clone()))).await;
        let closed = closed_sessions(&world.ports(), |_| false).await.unwrap();
        assert_eq!(closed.get(&session).copied(), expected);
    }
    world.calls.fail("store.tracked_issues", 1);
    assert!(closed_sessions(&world.ports(), |_| false).await.is_err(), "an error removes nothing");
}

#[tokio::test]
async fn forge_is_asked_about_an_issue_that_no_forge_delivered_and_a_failure_removes_nothing() {
    let world = FakeWorld::new();
    let session = with_issue(&world).await;
    let asked = async || asked_issues(&world.ports()).await.unwrap();
    assert!(asked().await.failed.is_empty(), "an issue that the forge does not have is no failure");
    let updated_at = Some(world.ports().clock.now());
    for is_open in [true, false] {
        let issue = ForgeIssue {
            id: 17,
            number: 17,
            title: String::new(),
            body: String::new(),
            web_url: String::new(),
            is_open,
            author: None,
            labels: Vec::new(),
            assignees: Vec::new(),
            updated_at,
        };
        world.forges.change(|state| state.issues.insert(("team/app".into(), 17), issue));
        let closed = asked().await.closed;
        assert_eq!(closed.get(&session).copied(), updated_at.filter(|_| !is_open));
    }
    world.forges.change(|state| state.fault = Some(ForgeFault::ServerError(500)));
    let found = asked().await;
    assert!(found.closed.is_empty() && found.failed.len() == 1, "{found:?}");
}

#[tokio::test]
async fn copies_of_live_sessions_are_held_and_others_expire_only_if_an_age_is_set() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    archive::copy(&scene.ports, &scene.state.session, &scene.id()).unwrap();
    pass(&scene.world, 1000);
    let ages = SweepAges { archives: Some(90 * DAY), ..SweepAges::default() };
    assert_eq!(expired(&scene.world, ages).await, [], "the session is alive");
    scene.end(Exit::Code(0)).await;
    set_stopped(&scene.world, scene.state.session.id).await;
    assert_eq!(expired(&scene.world, SweepAges::default()).await, []);
    let old = expired(&scene.world, ages).await;
    assert_eq!(old.iter().map(|it| it.0).collect::<Vec<_>>(), [HousekeepingKind::Archive]);
}

#[tokio::test]
async fn clone_expires_unless_it_holds_something_or_git_cannot_read_it() {
    let world = FakeWorld::new();
    let long_ago = world.ports().clock.now();
    pass(&world, 31);
    world.checkouts.add_clone("https://example.org/free", long_ago, None);
    world.checkouts.add_clone("https://example.org/held", long_ago, Some("it has a salvage"));
    world.checkouts.add_clone("https://example.org/new", world.ports().clock.now(), None);
    assert_eq!(expired(&world, SweepAges::default()).await.len(), 1);
    world.calls.fail("checkouts.clone_holds", 1);
    assert_eq!(expired(&world, SweepAges::default()).await, [], "an error keeps the clone");
}

async fn report(world: &FakeWorld, budget: Option<&DiskBudget>) -> DiskReport {
    let (ports, plan) = (world.ports(), disk_plan(&world.ports(), false).await.unwrap());
    let measured = ports.disk.measure(&plan.folders, ports.clock.now());
    plan.report(&measured, budget)
}

#[tokio::test]
async fn report_has_every_part_the_largest_first_and_repositories_with_salvages() {
    let world = FakeWorld::new();
    let state = start(&world, "fix").await;
    let (path, launch) = (state.session.cwd.clone(), state.launches[0].id);
    let clone = world.checkouts.add_clone("https://example.org/app", samples::start(), None);
    world.meter.set("/data", 10);
    world.meter.set("/state", 5);
    world.meter.set("/data/archive", 7);
    world.meter.set(&path, 1000);
    world.meter.set(&clone, 300);
    world.meter.set(world.ports().folders.folder(launch), 20);
    let report = report(&world, Some(&DiskBudget::new(1500, 0.8))).await;
    assert_eq!((report.total, report.level.known()), (1342, Some(DiskLevel::Warning)));
    let items: Vec<_> = report.items.iter().map(|it| (it.kind.as_str(), it.bytes)).collect();
    let expected = [
        ("worktree", 1000),
        ("clone", 300),
        ("session", 20),
        ("store", 10),
        ("archive", 7),
        ("state", 5),
    ];
    assert_eq!(items, expected);
    let names: Vec<_> = report.repositories.iter().map(|it| it.repository.as_str()).collect();
    assert_eq!(names, [samples::CWD, "https://example.org/app"]);
    let used = |path: &Path| {
        let measured = world.meter.measured();
        measured.into_iter().find(|it| it.path == path).unwrap().last_use
    };
    assert_eq!(used(&path), FolderUse::Now, "a session runs there");
    assert_eq!(used(&clone), FolderUse::Until(samples::start()));
}

#[tokio::test]
async fn level_is_recorded_and_reported_once_each_time_it_rises() {
    let world = FakeWorld::new();
    let budget = DiskBudget::new(100, 0.8);
    let table = [
        (10, None),
        (85, Some(DiskLevel::Warning)),
        (90, None),
        (100, Some(DiskLevel::Full)),
        (100, None),
        (85, None),
        (100, Some(DiskLevel::Full)),
        (1, None),
        (80, Some(DiskLevel::Warning)),
    ];
    for (used, notified) in table {
        let level = note_level(&world.ports(), used, &budget).await.unwrap();
        assert_eq!(level, notified, "{used}");
    }
}

#[tokio::test]
async fn time_of_the_next_sweep_survives_a_restart() {
    let world = FakeWorld::new();
    let ports = world.ports();
    let SweepTime::At(due) = next_sweep(&ports, DAY).await.unwrap() else { panic!() };
    world.clock.advance(SignedDuration::from_hours(20));
    assert_eq!(next_sweep(&ports, DAY).await.unwrap(), SweepTime::At(due));
    world.clock.advance(SignedDuration::from_hours(5));
    assert_eq!(next_sweep(&ports, DAY).await.unwrap(), SweepTime::Now);
    record_next_sweep(&ports, DAY).await.unwrap();
    let SweepTime::At(next) = next_sweep(&ports, DAY).await.unwrap() else { panic!() };
    assert!(next > due, "{next}");
}

fn request(repo: &str) -> ResetRequest {
    ResetRequest {
        agent: "coder".to_owned(),
        repo: repo.to_owned(),
        issue: "17".to_owned(),
        fleet: None,
        interrupt: false,
        cwd: None,
    }
}

const URL: &str = "https://example.org/team/app";

fn issue_key(session: &Session, url: &str) -> IssueKey {
    IssueKey {
        fleet: session.fleet.clone(),
        agent: AgentName::parse("coder").unwrap(),
        repository: RepositoryUrl::parse(url).unwrap().id(),
        issue: IssueRef::parse("17").unwrap(),
    }
}

async fn targets(world: &FakeWorld, repo: &str) -> Vec<ResetTarget> {
    reset_targets(&world.ports(), &request(repo)).await.unwrap()
}

/// Starts a session in a worktree that works on issue 17.
async fn with_issue(world: &FakeWorld) -> SessionId {
    let state = start(world, "fix").await;
    end(world, &state).await;
    let key = issue_key(&state.session, URL);
    let session = Some(state.session.id);
    commit(world, Change::SetIssueSession { key, session }).await;
    state.session.id
}

#[tokio::test]
async fn reset_forgets_the_conversation_and_releases_the_worktree_once() {
    let world = FakeWorld::new();
    let session = with_issue(&world).await;
    let found = targets(&world, URL).await;
    assert!(!is_busy(&found[0]));
    let parts = dropped(&found);
    assert!(parts.worktree && parts.session);
    drop_targets(&world.ports(), &found, Vec::new()).await.unwrap();
    assert_eq!(dropped(&targets(&world, URL).await), Default::default());
    let query = WorktreeQuery { session: Some(session), path: None };
    assert_eq!(world.ports().store.worktrees(&query).await.unwrap(), []);
    assert_eq!(stored(&world).await.len(), 1, "the record of the worktree stays");
    let sessions = world.ports().store.sessions(&SessionQuery::id(session)).await.unwrap();
    assert_eq!(sessions.len(), 1, "the conversation stays");
    let log = world.store.event_texts(session);
    assert!(log.iter().any(|it| it.starts_with("issue_reset: coder begins anew")), "{log:?}");
}

#[tokio::test]
async fn repository_of_a_reset_is_named_by_url_folder_or_the_end_of_its_url() {
    let world = FakeWorld::new();
    world.checkouts.set_remote(URL);
    with_issue(&world).await;
    for name in [URL, "https://example.org/team/app.git", samples::CWD, "team/app", "app"] {
        assert_eq!(targets(&world, name).await.len(), 1, "{name}");
    }
    for name in ["https://example.org/other", "pp", "/nowhere", "nowhere"] {
        assert_eq!(targets(&world, name).await.len(), 0, "{name}");
    }
    for bad in ["", "a b", "a\nb", "ftp://example.org/a", "https://t@example.org/a"] {
        let error = reset_targets(&world.ports(), &request(bad)).await.unwrap_err();
        assert_eq!(error.kind, Kind::Usage, "{bad:?}");
    }
    let mut wrong = request(URL);
    wrong.issue = "no issue".to_owned();
    assert_eq!(reset_targets(&world.ports(), &wrong).await.unwrap_err().kind, Kind::Usage);
    let mut wrong = request(URL);
    wrong.agent = "no agent!".to_owned();
    assert_eq!(reset_targets(&world.ports(), &wrong).await.unwrap_err().kind, Kind::Usage);
    let mut other = request(URL);
    other.fleet = Some("elsewhere".to_owned());
    assert_eq!(reset_targets(&world.ports(), &other).await.unwrap().len(), 0);
}

#[tokio::test]
async fn end_of_a_url_that_two_repositories_have_is_refused() {
    let world = FakeWorld::new();
    let id = with_issue(&world).await;
    let state = world.ports().store.session(id).await.unwrap().unwrap();
    let key = issue_key(&state, "https://example.com/team/app");
    commit(&world, Change::SetIssueSession { key, session: Some(id) }).await;
    let error = reset_targets(&world.ports(), &request("team/app")).await.unwrap_err();
    assert_eq!(error.kind, Kind::Usage);
    assert!(error.message.contains("several repositories"), "{error}");
    assert_eq!(targets(&world, URL).await.len(), 1);
}

#[tokio::test]
async fn turn_of_a_session_or_a_task_keeps_an_issue_busy() {
    let world = FakeWorld::new();
    with_issue(&world).await;
    let mut target = targets(&world, URL).await.remove(0);
    let ports = crate::tasks::ports().await;
    let mut task = crate::tasks::add(&ports, crate::tasks::request("fix it")).await.unwrap();
    let table = [
        (TaskState::Queued, false),
        (TaskState::Running, true),
        (TaskState::Waiting(TaskWait::Question { question: "?".to_owned() }), true),
        (TaskState::Waiting(TaskWait::Disk { reason: "full".to_owned() }), false),
    ];
    for (state, is_in_turn) in table {
        task.state = state;
        target.tasks = vec![task.clone()];
        assert_eq!(is_busy(&target), is_in_turn, "{:?}", task.state);
    }
}
