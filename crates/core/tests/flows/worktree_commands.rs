//! Setup and teardown commands of worktrees.

use std::path::Path;

use segue_core::api::{WorktreeActionReport, WorktreeOutcome};
use segue_core::flows::launch::{self, LaunchRequest};
use segue_core::flows::worktrees::{self, WorktreePlan};
use segue_core::flows::{SessionState, run};
use segue_core::model::{
    AgentName, AgentWorktree, BranchName, BranchStart, EventPayload, Exit, LaunchEnd, RefName,
    WorktreeCommands, WorktreeOrder, WorktreeSettings,
};
use segue_core::ports::{Change, Commit, WorktreeQuery};
use segue_core::{Kind, Result};
use segue_fakes::{FakeWorld, samples};

const SETUP: [&str; 2] = ["npm ci", "make db"];
const TEARDOWN: &str = "make clean";

fn settings() -> WorktreeSettings {
    let commands = WorktreeCommands {
        setup: SETUP.map(str::to_owned).to_vec(),
        teardown: vec![TEARDOWN.to_owned()],
        ..WorktreeCommands::default()
    };
    WorktreeSettings { commands, ..WorktreeSettings::default() }
}

fn order(start: BranchStart) -> WorktreeOrder {
    let branch = BranchName::parse("fix").unwrap();
    WorktreeOrder { branch, start, url: None, allows_commands_of_fork: false }
}

fn pull_request() -> BranchStart {
    BranchStart::PullRequest(RefName::parse("refs/pull/12/head").unwrap())
}

async fn plan(world: &FakeWorld, order: &WorktreeOrder) -> WorktreePlan {
    let (agent, folder) = (AgentName::parse("coder").unwrap(), Path::new(samples::CWD));
    worktrees::plan(&world.ports(), order, &agent, (folder, &settings())).await.unwrap()
}

async fn make(world: &FakeWorld, order: &WorktreeOrder) -> Result<EventPayload> {
    let plan = plan(world, order).await;
    worktrees::make(&world.ports(), &plan, &samples::environment()).await
}

async fn stored(world: &FakeWorld) -> AgentWorktree {
    world.ports().store.worktrees(&WorktreeQuery::default()).await.unwrap().pop().unwrap()
}

/// Returns the commands that were run since the last call.
fn ran(world: &FakeWorld) -> Vec<String> {
    world.commands.take().into_iter().map(|order| order.command).collect()
}

/// Starts a session in the worktree, and ends its process.
async fn ended_session(world: &FakeWorld) -> SessionState {
    let ports = world.ports();
    let mut session = samples::session(1, "own");
    session.cwd = stored(world).await.path;
    let mut state = SessionState::new(session);
    let first = LaunchRequest::fresh(None, samples::environment());
    let first = LaunchRequest { creates_session: true, ..first };
    launch::start(&ports, &mut state, first).await.unwrap();
    let end = LaunchEnd { exit: Exit::Code(0), is_requested: true, at: samples::start() };
    let changes = vec![Change::EndLaunch { launch: state.launches[0].id, end }];
    ports.store.commit(Commit { changes, events: Vec::new() }).await.unwrap();
    state
}

async fn remove(world: &FakeWorld) -> Result<WorktreeActionReport> {
    let how: (&[String], _) = (&[], &samples::environment());
    worktrees::remove(&world.ports(), &stored(world).await, how).await
}

async fn prepare(world: &FakeWorld, state: &SessionState) -> Result<bool> {
    worktrees::prepare(&world.ports(), &state.session, &samples::environment()).await
}

#[tokio::test]
async fn setup_commands_run_once_in_the_worktree_with_its_port() {
    let world = FakeWorld::new();
    make(&world, &order(BranchStart::DefaultBranch)).await.unwrap();
    let worktree = stored(&world).await;
    let orders = world.commands.take();
    assert_eq!(orders.iter().map(|it| it.command.as_str()).collect::<Vec<_>>(), SETUP);
    for order in &orders {
        assert_eq!(order.folder, worktree.path);
        assert_eq!(order.environment.get("SEGUE_PORT"), Some(worktree.port.to_string().as_str()));
        assert_eq!(order.environment.get("SEGUE_AGENT"), Some("coder"));
        assert_eq!(order.timeout.as_secs(), 600);
        assert!(order.log.is_some() && order.environment.get("SEGUE_SESSION").is_none());
    }
    assert!(worktree.is_set_up);
    // Another session uses the same worktree.
    make(&world, &order(BranchStart::DefaultBranch)).await.unwrap();
    let state = ended_session(&world).await;
    assert!(!prepare(&world, &state).await.unwrap());
    assert_eq!(ran(&world), Vec::<String>::new());
}

#[tokio::test]
async fn failed_setup_command_ends_the_setup_which_runs_again_at_the_next_start() {
    let world = FakeWorld::new();
    world.commands.fail_next("no such package\n");
    let error = make(&world, &order(BranchStart::DefaultBranch)).await.unwrap_err();
    assert_eq!(error.kind, Kind::Config);
    assert!(error.message.contains("setup command `npm ci` failed in `/data/"), "{error}");
    assert_eq!(error.causes, ["exit status: 1", "no such package"]);
    assert!(error.hints[0].contains("/state/worktree-logs/"), "{error:?}");
    assert_eq!(ran(&world), ["npm ci"]);
    assert!(!stored(&world).await.is_set_up);
    make(&world, &order(BranchStart::DefaultBranch)).await.unwrap();
    assert_eq!(ran(&world), SETUP);
    assert!(stored(&world).await.is_set_up);
}

#[tokio::test]
async fn setup_whose_success_was_not_recorded_runs_again_before_the_next_launch() {
    let world = FakeWorld::new();
    // The record of the worktree, the beginning and the end of both commands, and the success.
    world.calls.fail("store.commit", 6);
    let error = make(&world, &order(BranchStart::DefaultBranch)).await.unwrap_err();
    assert_eq!(error.kind, Kind::Unavailable);
    assert_eq!(ran(&world), SETUP);
    let state = ended_session(&world).await;
    prepare(&world, &state).await.unwrap();
    assert_eq!(ran(&world), SETUP);
    prepare(&world, &state).await.unwrap();
    assert_eq!(ran(&world), Vec::<String>::new());
}

#[tokio::test]
async fn setup_runs_again_in_a_folder_that_was_made_again() {
    let world = FakeWorld::new();
    make(&world, &order(BranchStart::DefaultBranch)).await.unwrap();
    let state = ended_session(&world).await;
    ran(&world);
    world.disk.remove(&state.session.cwd);
    world.commands.fail_next("");
    prepare(&world, &state).await.unwrap_err();
    assert!(!prepare(&world, &state).await.unwrap(), "the folder is there since the first attempt");
    assert_eq!(ran(&world), ["npm ci", "npm ci", "make db"]);
    world.checkouts.change(&state.session.cwd);
    remove(&world).await.unwrap();
    ran(&world);
    let restored = {
        let how = (None, &samples::environment());
        worktrees::restore(&world.ports(), &stored(&world).await, how).await.unwrap()
    };
    assert_eq!((restored.outcome, restored.notices.len()), (WorktreeOutcome::Restored, 0));
    assert_eq!(ran(&world), SETUP);
    assert!(stored(&world).await.is_set_up);
}

#[tokio::test]
async fn failed_setup_of_a_restored_worktree_is_a_notice() {
    let world = FakeWorld::new();
    make(&world, &order(BranchStart::DefaultBranch)).await.unwrap();
    world.checkouts.change(&stored(&world).await.path);
    remove(&world).await.unwrap();
    world.commands.fail_next("no such package");
    let how = (None, &samples::environment());
    let restored = worktrees::restore(&world.ports(), &stored(&world).await, how).await.unwrap();
    assert!(restored.notices[0].contains("setup command `npm ci` failed"), "{restored:?}");
    assert!(!stored(&world).await.is_set_up);
}

#[tokio::test]
async fn teardown_runs_after_the_salvage_and_before_the_removal() {
    let world = FakeWorld::new();
    make(&world, &order(BranchStart::DefaultBranch)).await.unwrap();
    let path = stored(&world).await.path;
    world.checkouts.change(&path);
    ran(&world);
    world.calls.take();
    let report = remove(&world).await.unwrap();
    assert_eq!(ran(&world), [TEARDOWN]);
    let calls = world.calls.take();
    let at = |call: &str| calls.iter().position(|it| *it == call).unwrap();
    assert!(at("checkouts.salvage") < at("checkouts.remove"), "{calls:?}");
    let first = RefName::parse("refs/segue/salvage/x/1").unwrap();
    assert_eq!((report.salvage, report.notices.len()), (Some(first.clone()), 0));
    let removed = stored(&world).await;
    assert_eq!(removed.removal.unwrap().salvage, Some(first));
    assert!(!removed.is_set_up && !world.disk.has_folder(&path));
    assert_eq!(world.commands.removed_logs(), [removed.id]);
}

#[tokio::test]
async fn failed_teardown_is_a_warning_and_the_worktree_is_removed() {
    let world = FakeWorld::new();
    make(&world, &order(BranchStart::DefaultBranch)).await.unwrap();
    world.commands.fail_next("still running");
    let (ports, environment) = (world.ports(), samples::environment());
    let unused = worktrees::unused(&ports).await.unwrap().pop().unwrap();
    let removed = worktrees::remove(&ports, &unused, (&[], &environment)).await.unwrap();
    assert!(removed.notices[0].contains("teardown command `make clean` failed"), "{removed:?}");
    assert!(!world.disk.has_folder(&removed.path));
    assert_eq!(world.commands.removed_logs(), []);
}

#[tokio::test]
async fn teardown_does_not_run_for_a_worktree_in_use() {
    let world = FakeWorld::new();
    make(&world, &order(BranchStart::DefaultBranch)).await.unwrap();
    let mut state = ended_session(&world).await;
    state = SessionState::load(&world.ports(), state.session.id).await.unwrap();
    let next = LaunchRequest::fresh(None, samples::environment());
    launch::start(&world.ports(), &mut state, next).await.unwrap();
    ran(&world);
    assert_eq!(remove(&world).await.unwrap_err().kind, Kind::Conflict);
    assert_eq!(ran(&world), Vec::<String>::new());
    assert!(stored(&world).await.is_set_up);
}

#[tokio::test]
async fn interrupted_removal_restores_the_state_from_before_the_teardown() {
    let world = FakeWorld::new();
    make(&world, &order(BranchStart::DefaultBranch)).await.unwrap();
    let state = ended_session(&world).await;
    world.checkouts.change(&state.session.cwd);
    // The intent, the salvage, and the beginning and the end of the command are recorded. The
    // removal is not.
    world.calls.fail("store.commit", 5);
    assert_eq!(remove(&world).await.unwrap_err().kind, Kind::Unavailable);
    assert!(!world.disk.has_folder(&state.session.cwd));
    ran(&world);
    assert!(prepare(&world, &state).await.unwrap());
    let events = world.store.event_texts(state.session.id).join("\n");
    assert!(events.contains("restored from refs/segue/salvage/x/1"), "{events}");
    assert_eq!(ran(&world), SETUP);
}

#[tokio::test]
async fn commands_do_not_run_for_a_branch_of_a_fork_unless_the_user_allows_them() {
    let world = FakeWorld::new();
    let made = make(&world, &order(pull_request())).await.unwrap();
    let EventPayload::WorktreeMade(facts) = made else { panic!("{made:?}") };
    assert!(facts.notices[0].contains("--setup-fork"), "{facts:?}");
    assert_eq!(ran(&world), Vec::<String>::new());
    // The branch exists now, so a later request need not name the pull request.
    make(&world, &order(BranchStart::DefaultBranch)).await.unwrap();
    assert_eq!(ran(&world), Vec::<String>::new());
    remove(&world).await.unwrap();
    assert_eq!(ran(&world), Vec::<String>::new());
    let allowed = WorktreeOrder { allows_commands_of_fork: true, ..order(pull_request()) };
    let made = make(&world, &allowed).await.unwrap();
    let EventPayload::WorktreeMade(facts) = made else { panic!("{made:?}") };
    assert_eq!(facts.notices, Vec::<String>::new());
    assert_eq!(ran(&world), SETUP);
    remove(&world).await.unwrap();
    assert_eq!(ran(&world), [TEARDOWN]);
}

#[tokio::test]
async fn branch_of_a_fork_stays_one_for_another_agent() {
    let world = FakeWorld::new();
    make(&world, &order(pull_request())).await.unwrap();
    remove(&world).await.unwrap();
    let agent = AgentName::parse("tester").unwrap();
    let place = (Path::new(samples::CWD), &settings());
    for (branch, is_from_fork) in [("fix", true), ("other", false)] {
        let branch = BranchName::parse(branch).unwrap();
        let order = WorktreeOrder { branch, ..order(BranchStart::DefaultBranch) };
        let plan = worktrees::plan(&world.ports(), &order, &agent, place).await.unwrap();
        assert_eq!(plan.worktree.is_from_fork(), is_from_fork, "{order:?}");
        assert_eq!(plan.worktree.commands.setup.is_empty(), is_from_fork, "{order:?}");
    }
}

#[tokio::test]
async fn commands_of_an_untrusted_project_file_are_refused() {
    let world = FakeWorld::new();
    let mut project = samples::project(&["coder"]);
    project.worktrees = settings();
    world.projects.write(project);
    let request = super::worktrees::request("fix");
    let error = run::plan(&world.ports(), &segue_core::model::Principal::User, &request).await;
    assert!(error.unwrap_err().message.contains("is not trusted"));
}
