//! Worktrees, and the sessions that work in them.

use std::time::Duration;

use segue_core::model::{
    AgentName, AgentWorktree, BranchName, BranchStart, GitHost, RefName, RepositorySource,
    RepositoryUrl, Session, SessionId, Status, WorktreeCommands, WorktreeId, WorktreeRemoval,
};
use segue_core::ports::{Change, LeasedWorktree, SessionQuery, Store, WorktreeQuery};
use segue_core::{Kind, Result};
use uuid::Uuid;

use super::{Backend, Samples, assert_conflict, commit};

fn worktree(samples: &Samples, branch: &str, port: u16) -> AgentWorktree {
    AgentWorktree {
        id: WorktreeId::new(Uuid::now_v7()),
        source: RepositorySource::Folder("/code/shop".into()),
        remote_host: None,
        agent: AgentName::parse("coder").unwrap(),
        branch: BranchName::parse(branch).unwrap(),
        start: BranchStart::DefaultBranch,
        path: format!("/data/worktrees/shop/coder/{branch}").into(),
        port,
        session: None,
        removal: None,
        commands: WorktreeCommands::default(),
        is_set_up: false,
        created_at: samples.time(),
    }
}

fn commands() -> WorktreeCommands {
    WorktreeCommands {
        setup: vec!["npm ci".to_owned(), "echo 'a\nb'".to_owned()],
        teardown: vec!["make down".to_owned()],
        setup_timeout: Some(Duration::from_secs(90)),
        teardown_timeout: None,
    }
}

async fn stored(store: &dyn Store, worktree: &AgentWorktree) -> Result<i64> {
    store.commit(commit([Change::AddWorktree(Box::new(worktree.clone()))])).await
}

async fn all(store: &dyn Store) -> Vec<AgentWorktree> {
    store.worktrees(&WorktreeQuery::default()).await.unwrap()
}

fn lease(worktree: &AgentWorktree, session: &Session) -> Change {
    Change::LeaseWorktree { worktree: worktree.id, session: session.id }
}

pub async fn every_field_of_a_worktree_is_read_back_unchanged(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.stored_session(&*store, "shop", "coder").await;
    let url = RepositoryUrl::parse("https://git.example.org/team/app.git").unwrap();
    let salvage = RefName::parse("refs/segue/salvage/x-0123abcd/1").unwrap();
    let full = AgentWorktree {
        source: RepositorySource::Url(url),
        remote_host: Some(GitHost::parse("git.example.org:8443").unwrap()),
        start: BranchStart::PullRequest(RefName::parse("refs/pull/12/head").unwrap()),
        session: Some(session.id),
        removal: Some(WorktreeRemoval {
            at: samples.time(),
            is_done: true,
            salvage: Some(salvage),
            onto: Some(BranchName::parse("full-2").unwrap()),
        }),
        commands: commands(),
        is_set_up: true,
        ..worktree(&samples, "full", 20001)
    };
    let based = AgentWorktree {
        start: BranchStart::Base("v1.2".to_owned()),
        path: std::ffi::OsStr::new("/data/worktrees/b").into(),
        ..worktree(&samples, "based", 65535)
    };
    stored(&*store, &full).await.unwrap();
    stored(&*store, &based).await.unwrap();
    assert_eq!(all(&*backend.open().await).await, [full.clone(), based.clone()]);
    let of = WorktreeQuery { session: Some(session.id), path: None };
    assert_eq!(store.worktrees(&of).await.unwrap(), std::slice::from_ref(&full));
    let at = WorktreeQuery { session: None, path: Some(based.path.clone()) };
    assert_eq!(store.worktrees(&at).await.unwrap(), [based]);
    let neither = WorktreeQuery { session: Some(session.id), path: at.path };
    assert_eq!(store.worktrees(&neither).await.unwrap(), []);
}

pub async fn a_second_worktree_with_the_same_path_or_port_is_a_conflict(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let first = worktree(&samples, "one", 20001);
    stored(&*store, &first).await.unwrap();
    let same_path = AgentWorktree { port: 20002, ..worktree(&samples, "one", 20001) };
    assert_conflict(stored(&*store, &same_path).await, &["/data/worktrees/shop/coder/one"]);
    assert_conflict(stored(&*store, &worktree(&samples, "two", 20001)).await, &["20001"]);
    assert_eq!(all(&*store).await, [first]);
}

pub async fn a_worktree_is_leased_to_one_session_at_a_time(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let [one, two] = ["one", "two"].map(|name| samples.session("shop", name));
    let created = |session: &Session| Change::CreateSession(Box::new(session.clone()));
    store.commit(commit([created(&one), created(&two)])).await.unwrap();
    let [main, other] =
        [("main", 20001), ("other", 20002)].map(|(branch, port)| worktree(&samples, branch, port));
    stored(&*store, &main).await.unwrap();
    stored(&*store, &other).await.unwrap();
    store.commit(commit([lease(&main, &one)])).await.unwrap();
    // The same lease again is not a conflict.
    store.commit(commit([lease(&main, &one)])).await.unwrap();
    let taken = store.commit(commit([lease(&main, &two)])).await;
    assert_conflict(taken, &["`shop/one`", "`main`"]);
    assert_conflict(store.commit(commit([lease(&other, &one)])).await, &["`shop/one`"]);
    let release = Change::ReleaseWorktree { worktree: main.id };
    store.commit(commit([release, lease(&main, &two)])).await.unwrap();
    assert_eq!(all(&*store).await[0].session, Some(two.id));
}

pub async fn a_worktree_is_taken_over_from_a_headless_session_whose_turn_is_over(
    backend: &impl Backend,
) {
    let (store, samples) = (backend.open().await, Samples::default());
    let one = Session { headless: true, status: Status::Working, ..samples.session("shop", "one") };
    let two = samples.session("shop", "two");
    let own = worktree(&samples, "main", 20001);
    let created = |session: &Session| Change::CreateSession(Box::new(session.clone()));
    store.commit(commit([created(&one), created(&two)])).await.unwrap();
    stored(&*store, &own).await.unwrap();
    store.commit(commit([lease(&own, &one)])).await.unwrap();
    assert_conflict(store.commit(commit([lease(&own, &two)])).await, &["`shop/one`"]);
    let at = samples.time();
    let idle = Change::SetStatus { session: one.id, status: Status::Idle, at };
    store.commit(commit([idle])).await.unwrap();
    store.commit(commit([lease(&own, &two)])).await.unwrap();
    assert_eq!(all(&*store).await[0].session, Some(two.id));
    assert_conflict(store.commit(commit([lease(&own, &one)])).await, &["`shop/two`"]);
}

pub async fn a_summary_names_the_worktree_of_its_session(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.stored_session(&*store, "shop", "coder").await;
    let own = worktree(&samples, "feature/x", 20001);
    stored(&*store, &own).await.unwrap();
    store.commit(commit([lease(&own, &session)])).await.unwrap();
    let summaries = store.sessions(&SessionQuery::default()).await.unwrap();
    let expected = LeasedWorktree { path: own.path, branch: own.branch };
    assert_eq!(summaries[0].worktree, Some(expected));
}

pub async fn removing_a_session_releases_its_worktree(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.stored_session(&*store, "shop", "coder").await;
    let own = worktree(&samples, "main", 20001);
    stored(&*store, &own).await.unwrap();
    let changes = [lease(&own, &session), Change::RemoveSession(session.id)];
    store.commit(commit(changes)).await.unwrap();
    assert_eq!(all(&*store).await, [own]);
}

pub async fn a_removal_is_recorded_until_the_folder_exists_again(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let own = worktree(&samples, "main", 20001);
    stored(&*store, &own).await.unwrap();
    let onto = Some(BranchName::parse("other").unwrap());
    let removal = WorktreeRemoval { at: samples.time(), is_done: false, salvage: None, onto };
    let removal = Some(removal);
    let set = |removal| Change::SetWorktreeRemoval { worktree: own.id, removal };
    store.commit(commit([set(removal.clone())])).await.unwrap();
    assert_eq!(all(&*store).await[0].removal, removal);
    store.commit(commit([set(None)])).await.unwrap();
    assert_eq!(all(&*store).await, std::slice::from_ref(&own));
    store.commit(commit([Change::ForgetWorktree(own.id)])).await.unwrap();
    assert_eq!(all(&*store).await, []);
}

pub async fn the_commands_of_a_worktree_and_their_success_are_recorded(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let own = worktree(&samples, "main", 20001);
    stored(&*store, &own).await.unwrap();
    let changes = [
        Change::SetWorktreeCommands { worktree: own.id, commands: commands() },
        Change::SetWorktreeSetUp { worktree: own.id, is_set_up: true },
    ];
    store.commit(commit(changes)).await.unwrap();
    let expected = AgentWorktree { commands: commands(), is_set_up: true, ..own.clone() };
    assert_eq!(all(&*backend.open().await).await, [expected]);
    let change = Change::SetWorktreeSetUp { worktree: own.id, is_set_up: false };
    store.commit(commit([change])).await.unwrap();
    assert!(!all(&*store).await[0].is_set_up);
}

pub async fn a_worktree_can_get_another_branch(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let own = worktree(&samples, "main", 20001);
    let other = worktree(&samples, "side", 20002);
    stored(&*store, &own).await.unwrap();
    stored(&*store, &other).await.unwrap();
    let branch = BranchName::parse("fix-2").unwrap();
    let change = Change::SetWorktreeBranch { worktree: own.id, branch: branch.clone() };
    store.commit(commit([change])).await.unwrap();
    let expected = AgentWorktree { branch, ..own };
    assert_eq!(all(&*backend.open().await).await, [expected, other]);
}

pub async fn changes_to_an_unknown_worktree_fail_with_not_found(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.stored_session(&*store, "shop", "coder").await;
    let unknown = worktree(&samples, "main", 20001);
    let changes = [
        lease(&unknown, &session),
        Change::ReleaseWorktree { worktree: unknown.id },
        Change::SetWorktreeRemoval { worktree: unknown.id, removal: None },
        Change::SetWorktreeBranch { worktree: unknown.id, branch: unknown.branch.clone() },
        Change::SetWorktreeCommands { worktree: unknown.id, commands: commands() },
        Change::SetWorktreeSetUp { worktree: unknown.id, is_set_up: true },
        Change::ForgetWorktree(unknown.id),
    ];
    for change in changes {
        let error = store.commit(commit([change.clone()])).await.unwrap_err();
        assert_eq!(error.kind, Kind::NotFound, "{change:?}: {error}");
    }
    stored(&*store, &unknown).await.unwrap();
    let missing = SessionId::new(Uuid::now_v7());
    let change = Change::LeaseWorktree { worktree: unknown.id, session: missing };
    assert_eq!(store.commit(commit([change])).await.unwrap_err().kind, Kind::NotFound);
}
