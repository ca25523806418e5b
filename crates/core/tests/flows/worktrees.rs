//! Worktrees of sessions: planned, made, reserved, removed and brought back.

use std::path::Path;

use segue_core::api::{
    Caller, RunRequest, WorktreeActionReport, WorktreeOutcome, WorktreeRequest, WorktreeState,
    WorktreesRequest,
};
use segue_core::flows::launch::{self, LaunchRequest};
use segue_core::flows::run::RunPlan;
use segue_core::flows::{SessionState, run, worktrees};
use segue_core::model::{AgentWorktree, BranchName, Exit, LaunchEnd, Principal};
use segue_core::ports::{Change, Commit, Conflict, WorktreeQuery};
use segue_core::{Kind, Result};
use segue_fakes::{FakeWorld, samples};

pub(crate) fn request(branch: &str) -> RunRequest {
    RunRequest {
        caller: Caller { cwd: samples::CWD.into(), environment: samples::environment() },
        worktree: Some(WorktreeRequest { branch: branch.to_owned(), ..WorktreeRequest::default() }),
        ..RunRequest::default()
    }
}

async fn plan(world: &FakeWorld, request: &RunRequest) -> Result<RunPlan> {
    run::plan(&world.ports(), &Principal::User, request).await
}

pub(crate) async fn stored(world: &FakeWorld) -> Vec<AgentWorktree> {
    world.ports().store.worktrees(&WorktreeQuery::default()).await.unwrap()
}

/// Plans, makes and starts a session in a worktree.
pub(crate) async fn start(world: &FakeWorld, branch: &str) -> SessionState {
    start_with(world, &request(branch)).await
}

pub(crate) async fn start_with(world: &FakeWorld, request: &RunRequest) -> SessionState {
    let ports = world.ports();
    let plan = plan(world, request).await.unwrap();
    let made = plan.worktree.as_ref().unwrap();
    worktrees::make(&ports, made, &samples::environment()).await.unwrap();
    let mut state = SessionState::new(plan.session(&ports).await.unwrap());
    let first = LaunchRequest::fresh(None, samples::environment());
    let first = LaunchRequest { creates_session: true, ..first };
    launch::start(&ports, &mut state, first).await.unwrap();
    state
}

#[tokio::test]
async fn session_works_in_the_worktree_that_is_reserved_for_it() {
    let world = FakeWorld::new();
    let state = start(&world, "fix").await;
    let all = stored(&world).await;
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].session, Some(state.session.id));
    assert_eq!(state.session.cwd, all[0].path);
    assert!(all[0].path.starts_with("/data/worktrees"), "{:?}", all[0].path);
    let names = &state.launches[0].environment;
    assert!(names.contains(&"SEGUE_PORT".to_owned()), "{names:?}");
}

#[tokio::test]
async fn plan_changes_nothing_and_a_failed_git_leaves_no_record() {
    let world = FakeWorld::new();
    let planned = plan(&world, &request("fix")).await.unwrap().worktree.unwrap();
    assert_eq!(stored(&world).await, []);
    world.calls.fail("checkouts.ensure", 1);
    let made = worktrees::make(&world.ports(), &planned, &samples::environment()).await;
    assert_eq!(made.unwrap_err().kind, Kind::Unavailable);
    assert_eq!(stored(&world).await, []);
}

#[tokio::test]
async fn worktree_of_another_session_is_a_conflict_until_that_session_is_removed() {
    let world = FakeWorld::new();
    let planned = plan(&world, &request("fix")).await.unwrap().worktree.unwrap();
    let first = start(&world, "fix").await;
    world.calls.take();
    let made = worktrees::make(&world.ports(), &planned, &samples::environment()).await;
    let error = made.unwrap_err();
    assert!(matches!(error.conflict.as_deref(), Some(Conflict::WorktreeLeased { .. })), "{error}");
    assert!(error.message.contains(&first.session.address()), "{error}");
    assert_eq!(world.calls.count("checkouts.ensure"), 0);
    end_launch(&world, &first).await;
    remove_session(&world, &first).await;
    let second = start(&world, "fix").await;
    assert_eq!(stored(&world).await[0].session, Some(second.session.id));
}

#[tokio::test]
async fn ports_of_worktrees_differ_and_are_not_used_by_other_programs() {
    let world = FakeWorld::new();
    let free = plan(&world, &request("fix")).await.unwrap().worktree.unwrap().worktree.port;
    world.machine.use_port(free);
    let one = start(&world, "fix").await;
    let two = start(&world, "other").await;
    let ports: Vec<u16> = stored(&world).await.iter().map(|it| it.port).collect();
    assert!(!ports.contains(&free) && ports[0] != ports[1], "{ports:?}");
    assert_ne!(one.session.cwd, two.session.cwd);
}

#[tokio::test]
async fn folder_without_a_repository_and_invalid_branches_are_usage_errors() {
    let world = FakeWorld::new();
    let error = plan(&world, &request("a b")).await.unwrap_err();
    assert_eq!(error.kind, Kind::Usage);
    world.checkouts.remove_repository();
    let error = plan(&world, &request("fix")).await.unwrap_err();
    assert!(error.message.contains("in no git repository"), "{error}");
    let url = Some("https://git.example.org/a".to_owned());
    let worktree =
        WorktreeRequest { branch: "fix".to_owned(), repo: url, ..WorktreeRequest::default() };
    let of_url = RunRequest { worktree: Some(worktree), ..request("fix") };
    plan(&world, &of_url).await.unwrap();
}

#[tokio::test]
async fn agents_may_not_make_worktrees() {
    let world = FakeWorld::new();
    let agent = Principal::Agent(Box::new(samples::session(1, "own")));
    let error = run::plan(&world.ports(), &agent, &request("fix")).await.unwrap_err();
    assert!(error.message.contains("worktree"), "{error}");
}

/// Records the end of a session's process.
pub(crate) async fn end_launch(world: &FakeWorld, state: &SessionState) {
    let end = LaunchEnd { exit: Exit::Code(0), is_requested: true, at: samples::start() };
    let changes = vec![Change::EndLaunch { launch: state.launches[0].id, end }];
    world.ports().store.commit(Commit { changes, events: Vec::new() }).await.unwrap();
}

async fn remove_session(world: &FakeWorld, state: &SessionState) {
    let changes = vec![Change::RemoveSession(state.session.id)];
    world.ports().store.commit(Commit { changes, events: Vec::new() }).await.unwrap();
}

pub(crate) async fn remove(world: &FakeWorld, branch: &str) -> Result<WorktreeActionReport> {
    let ports = world.ports();
    let cwd = Path::new(samples::CWD);
    let worktree = worktrees::find(&ports, &Principal::User, branch, cwd).await?;
    worktrees::remove(&ports, &worktree, (&[], &samples::environment())).await
}

#[tokio::test]
async fn removed_worktree_is_restored_from_its_salvage_at_the_next_launch() {
    let world = FakeWorld::new();
    let mut state = start(&world, "fix").await;
    let path = state.session.cwd.clone();
    world.checkouts.change(&path);
    assert_eq!(remove(&world, "fix").await.unwrap_err().kind, Kind::Conflict);
    end_launch(&world, &state).await;
    let report = remove(&world, "fix").await.unwrap();
    assert_eq!(report.outcome, WorktreeOutcome::Removed);
    assert!(report.salvage.is_some() && !world.disk.has_folder(&path));
    world.calls.take();
    resume(&world, &mut state).await;
    assert_eq!(world.calls.count("checkouts.restore"), 1);
    assert!(world.disk.has_folder(&path));
    assert_eq!(stored(&world).await[0].removal, None);
}

async fn resume(world: &FakeWorld, state: &mut SessionState) {
    let ports = world.ports();
    *state = SessionState::load(&ports, state.session.id).await.unwrap();
    let next = LaunchRequest::fresh(None, samples::environment());
    launch::start(&ports, state, next).await.unwrap();
}

#[tokio::test]
async fn worktree_is_made_without_its_salvage_if_the_branch_has_moved() {
    let world = FakeWorld::new();
    let mut state = start(&world, "fix").await;
    let path = state.session.cwd.clone();
    world.checkouts.change(&path);
    end_launch(&world, &state).await;
    let salvage = remove(&world, "fix").await.unwrap().salvage.unwrap();
    world.checkouts.move_branches();
    resume(&world, &mut state).await;
    assert!(world.disk.has_folder(&path));
    let events = world.store.event_texts(state.session.id).join("\n");
    assert!(events.contains(&format!("still in {salvage}")), "{events}");
}

#[tokio::test]
async fn interrupted_removal_is_found_again_by_its_salvage() {
    let world = FakeWorld::new();
    let mut state = start(&world, "fix").await;
    let path = state.session.cwd.clone();
    world.checkouts.change(&path);
    end_launch(&world, &state).await;
    // The first commit records the intent, the second one would record the salvage.
    world.calls.fail("store.commit", 2);
    assert_eq!(remove(&world, "fix").await.unwrap_err().kind, Kind::Unavailable);
    assert!(!world.disk.has_folder(&path));
    world.calls.take();
    resume(&world, &mut state).await;
    assert_eq!(world.calls.count("checkouts.restore"), 1);
}

/// Starts a session, changes a file in its worktree, ends the session, removes the worktree, and moves
/// its branch.
async fn removed_with_moved_branch(world: &FakeWorld) -> SessionState {
    let state = start(world, "fix").await;
    world.checkouts.change(&state.session.cwd);
    end_launch(world, &state).await;
    remove(world, "fix").await.unwrap();
    world.checkouts.move_branches();
    state
}

async fn restore(
    world: &FakeWorld,
    branch: Option<&str>,
) -> Result<segue_core::api::WorktreeActionReport> {
    let worktree = stored(world).await.remove(0);
    let branch = branch.map(|branch| BranchName::parse(branch).unwrap());
    worktrees::restore(&world.ports(), &worktree, (branch, &samples::environment())).await
}

#[tokio::test]
async fn worktree_that_is_restored_onto_a_new_branch_belongs_to_that_branch() {
    let world = FakeWorld::new();
    let mut state = removed_with_moved_branch(&world).await;
    let before = stored(&world).await.remove(0);
    assert_eq!(restore(&world, None).await.unwrap_err().kind, Kind::Conflict);
    assert_eq!(stored(&world).await, std::slice::from_ref(&before));
    let report = restore(&world, Some("fix-2")).await.unwrap();
    assert_eq!(report.branch.as_str(), "fix-2");
    let branch = BranchName::parse("fix-2").unwrap();
    let expected = AgentWorktree { branch, removal: None, ..before };
    assert_eq!(stored(&world).await, [expected]);
    // The launch finds the branch that it expects, also if the folder is gone.
    world.disk.remove(&state.session.cwd);
    resume(&world, &mut state).await;
    assert_eq!(stored(&world).await[0].branch.as_str(), "fix-2");
}

#[tokio::test]
async fn restoration_onto_a_new_branch_that_is_not_recorded_is_completed_on_that_branch() {
    for completes_by_launch in [false, true] {
        let world = FakeWorld::new();
        let mut state = removed_with_moved_branch(&world).await;
        // The first commit records the intent, the second one would record the branch.
        world.calls.fail("store.commit", 2);
        let error = restore(&world, Some("fix-2")).await.unwrap_err();
        assert_eq!(error.kind, Kind::Unavailable);
        let begun = stored(&world).await.remove(0);
        assert_eq!(begun.branch.as_str(), "fix");
        assert!(world.disk.has_folder(&begun.path));
        let other = restore(&world, Some("fix-3")).await.unwrap_err();
        assert_eq!(other.kind, Kind::Conflict, "{other}");
        match completes_by_launch {
            true => resume(&world, &mut state).await,
            false => drop(restore(&world, None).await.unwrap()),
        }
        let restored = stored(&world).await.remove(0);
        assert_eq!((restored.branch.as_str(), restored.removal), ("fix-2", None));
    }
}

#[tokio::test]
async fn session_for_a_branch_works_in_the_worktree_that_was_restored_onto_it() {
    let world = FakeWorld::new();
    let first = removed_with_moved_branch(&world).await;
    restore(&world, Some("fix-2")).await.unwrap();
    remove_session(&world, &first).await;
    let own = plan(&world, &request("fix")).await.unwrap_err();
    assert!(own.kind == Kind::Conflict && own.message.contains("`fix-2`"), "{own}");
    let second = start(&world, "fix-2").await;
    assert_eq!(second.session.cwd, first.session.cwd);
    end_launch(&world, &second).await;
    remove_session(&world, &second).await;
    // The folder of the first branch is free again after the worktree was removed.
    remove(&world, "fix-2").await.unwrap();
    let third = start(&world, "fix").await;
    assert_eq!(third.session.cwd, first.session.cwd);
    let all = stored(&world).await;
    assert_eq!((all.len(), all[0].branch.as_str()), (1, "fix"));
}

#[tokio::test]
async fn list_reports_states_sessions_and_errors_of_git() {
    let world = FakeWorld::new();
    let state = start(&world, "fix").await;
    let list = async |names: &[&str]| {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let request = WorktreesRequest { cwd: samples::CWD.into(), names, with_sizes: false };
        worktrees::list(&world.ports(), &Principal::User, &request).await
    };
    let all = list(&[]).await.unwrap();
    assert_eq!(all[0].state, WorktreeState::Present);
    let owner = all[0].leased_to.as_ref().unwrap();
    assert_eq!(owner.address, state.session.address());
    for name in [state.session.name.as_str(), "fix", state.session.cwd.to_str().unwrap()] {
        assert_eq!(list(&[name]).await.unwrap()[0].worktree, all[0].worktree, "{name}");
    }
    let error = list(&["fox"]).await.unwrap_err();
    assert_eq!(error.kind, Kind::NotFound);
    world.calls.fail("checkouts.inspect", 1);
    assert!(list(&["fix"]).await.unwrap()[0].error.is_some());
    world.disk.remove(&state.session.cwd);
    assert_eq!(list(&[]).await.unwrap()[0].state, WorktreeState::Missing);
}

#[tokio::test]
async fn only_worktrees_that_no_session_uses_are_garbage() {
    let world = FakeWorld::new();
    start(&world, "used").await;
    let planned = plan(&world, &request("unused")).await.unwrap().worktree.unwrap();
    let ports = world.ports();
    worktrees::make(&ports, &planned, &samples::environment()).await.unwrap();
    let unused = worktrees::unused(&ports).await.unwrap();
    assert_eq!(unused.len(), 1);
    assert_eq!(worktrees::removable(&unused[0]).outcome, WorktreeOutcome::Removable);
    assert_eq!(unused[0].path, planned.worktree.path);
    let environment = samples::environment();
    world.calls.fail("checkouts.remove", 1);
    worktrees::remove(&ports, &unused[0], (&[], &environment)).await.unwrap_err();
    assert_eq!(worktrees::unused(&ports).await.unwrap().len(), 1, "it is tried again");
    worktrees::remove(&ports, &unused[0], (&[], &environment)).await.unwrap();
    assert!(!world.disk.has_folder(&planned.worktree.path));
    assert_eq!(worktrees::unused(&ports).await.unwrap(), []);
}
