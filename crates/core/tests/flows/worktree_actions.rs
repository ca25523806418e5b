//! Comparing, salvaging, finding, restoring and trusting worktrees.

use std::path::Path;

use segue_core::api::{
    RunRequest, TrustRequest, WorktreeDiffRequest, WorktreeOutcome, WorktreeRequest,
};
use segue_core::flows::{SessionState, trust, worktrees};
use segue_core::model::{
    AgentWorktree, BranchName, BranchStart, FileDiff, Principal, Project, RefName, RepositoryUrl,
    WorktreeOrder,
};
use segue_core::{Kind, Result};
use segue_fakes::{FakeWorld, samples};

use crate::worktrees::{end_launch, remove, request, start, start_with, stored};

const URL: &str = "https://git.example.org/team/app";

async fn only(world: &FakeWorld) -> AgentWorktree {
    stored(world).await.pop().unwrap()
}

async fn find(world: &FakeWorld, word: &str) -> Result<AgentWorktree> {
    let cwd = Path::new(samples::CWD);
    worktrees::find(&world.ports(), &Principal::User, word, cwd).await
}

fn in_repository(branch: &str, url: &str) -> RunRequest {
    let (branch, repo) = (branch.to_owned(), Some(url.to_owned()));
    let worktree = WorktreeRequest { branch, repo, ..WorktreeRequest::default() };
    RunRequest { worktree: Some(worktree), ..request("x") }
}

#[tokio::test]
async fn diff_has_every_file_and_the_patch_unless_only_numbers_are_requested() {
    let world = FakeWorld::new();
    start(&world, "fix").await;
    let file = |path: &str, lines| FileDiff { path: path.into(), lines };
    let files = vec![file("a.txt", Some((3, 1))), file("b.png", None)];
    world.checkouts.set_diff(files, b"+caf\xe9\n");
    let diff = async |only_stat| {
        let request = WorktreeDiffRequest {
            cwd: samples::CWD.into(),
            environment: samples::environment(),
            name: "fix".to_owned(),
            base: None,
            only_stat,
        };
        worktrees::diff(&world.ports(), &only(&world).await, &request).await
    };
    let whole = diff(false).await.unwrap();
    let numbers: Vec<_> = whole.files.iter().map(|it| (it.added, it.removed)).collect();
    assert_eq!(numbers, [(Some(3), Some(1)), (None, None)]);
    assert_eq!((whole.patch.as_deref(), whole.is_cut), (Some("+caf\u{fffd}\n"), false));
    assert_eq!((whole.path, whole.base.map(|it| it.len())), (only(&world).await.path, Some(40)));
    let stat = diff(true).await.unwrap();
    assert_eq!((stat.files, stat.patch, stat.is_cut), (whole.files, None, false));
    world.checkouts.set_diff(Vec::new(), &vec![b'x'; (8 << 20) + 1]);
    let cut = diff(false).await.unwrap();
    assert_eq!((cut.patch.map(|patch| patch.len()), cut.is_cut), (Some(8 << 20), true));
    world.calls.fail("checkouts.diff", 1);
    assert_eq!(diff(false).await.unwrap_err().kind, Kind::Unavailable);
}

#[tokio::test]
async fn salvage_keeps_the_worktree_and_names_a_ref_only_if_there_are_changes() {
    let world = FakeWorld::new();
    let path = start(&world, "fix").await.session.cwd;
    let salvage = async || worktrees::salvage(&world.ports(), &only(&world).await, &[]).await;
    let clean = salvage().await.unwrap();
    assert_eq!((clean.outcome, clean.salvage), (WorktreeOutcome::Salvaged, None));
    world.checkouts.change(&path);
    assert!(salvage().await.unwrap().salvage.is_some());
    assert!(world.disk.has_folder(&path));
    assert_eq!(only(&world).await.removal, None);
}

#[tokio::test]
async fn worktree_is_found_by_a_path_in_it_its_branch_or_its_session() {
    let world = FakeWorld::new();
    let state = start(&world, "fix").await;
    let path = state.session.cwd.display().to_string();
    let address = state.session.address();
    for word in ["fix", &path, &format!("{path}/src/deep"), &address, state.session.name.as_str()] {
        assert_eq!(find(&world, word).await.unwrap(), only(&world).await, "{word}");
    }
    let error = find(&world, "fxi").await.unwrap_err();
    assert_eq!(error.kind, Kind::NotFound);
    assert_eq!(error.hints[0], "did you mean `fix`?");
    start_with(&world, &in_repository("fix", URL)).await;
    let error = find(&world, "fix").await.unwrap_err();
    assert_eq!((error.kind, error.hints.len()), (Kind::Usage, 2));
    assert!(error.hints.iter().any(|hint| hint.contains(&path)), "{error:?}");
}

async fn restore(world: &FakeWorld, branch: Option<&str>) -> Result<Option<RefName>> {
    let branch = branch.map(|branch| BranchName::parse(branch).unwrap());
    let environment = samples::environment();
    let worktree = only(world).await;
    let restored = worktrees::restore(&world.ports(), &worktree, (branch, &environment)).await?;
    assert_eq!(restored.outcome, WorktreeOutcome::Restored);
    Ok(restored.salvage)
}

#[tokio::test]
async fn worktree_that_was_never_salvaged_cannot_be_restored() {
    let world = FakeWorld::new();
    let state = start(&world, "fix").await;
    end_launch(&world, &state).await;
    assert_eq!(remove(&world, "fix").await.unwrap().salvage, None, "it has no changes");
    let error = restore(&world, None).await.unwrap_err();
    assert_eq!(error.kind, Kind::NotFound);
    assert!(error.hints[0].contains("segue run --worktree fix"), "{error:?}");
}

/// Starts a session in a worktree, changes a file there, and removes the worktree.
async fn removed(world: &FakeWorld) -> (SessionState, RefName) {
    let state = start(world, "fix").await;
    world.checkouts.change(&state.session.cwd);
    end_launch(world, &state).await;
    let salvage = remove(world, "fix").await.unwrap().salvage.unwrap();
    (state, salvage)
}

#[tokio::test]
async fn restored_worktree_is_recorded_as_complete_and_logged() {
    let world = FakeWorld::new();
    let (state, salvage) = removed(&world).await;
    world.calls.fail("checkouts.restore", 1);
    restore(&world, None).await.unwrap_err();
    assert!(only(&world).await.removal.is_some(), "it can be tried again");
    assert_eq!(restore(&world, None).await.unwrap(), Some(salvage.clone()));
    assert!(world.disk.has_folder(&state.session.cwd));
    assert_eq!(only(&world).await.removal, None);
    let log = world.store.event_texts(state.session.id).join("\n");
    assert!(log.contains(&format!("restored from {salvage}")), "{log}");
}

#[tokio::test]
async fn salvage_of_a_moved_branch_is_restored_only_on_a_new_branch() {
    let world = FakeWorld::new();
    let (_, salvage) = removed(&world).await;
    world.checkouts.move_branches();
    assert_eq!(restore(&world, None).await.unwrap_err().kind, Kind::Conflict);
    assert_eq!(restore(&world, Some("again")).await.unwrap(), Some(salvage));
}

#[tokio::test]
async fn interrupted_restoration_is_completed_without_a_second_restoration() {
    let world = FakeWorld::new();
    let (state, _) = removed(&world).await;
    world.disk.create_folder(&state.session.cwd);
    world.calls.fail("checkouts.ensure", 1);
    let error = restore(&world, None).await.unwrap_err();
    assert!(error.message.ends_with("of branch `fix` cannot be made again"), "{error}");
    assert!(only(&world).await.removal.is_some(), "it can be tried again");
    world.calls.take();
    restore(&world, None).await.unwrap();
    let counts = ["checkouts.restore", "checkouts.ensure"].map(|call| world.calls.count(call));
    assert_eq!(counts, [0, 1]);
    assert_eq!(only(&world).await.removal, None);
}

/// Returns a project whose agent works in a worktree of this repository.
fn project(url: Option<&str>) -> Project {
    let mut project = samples::project(&["coder"]);
    project.agents[0].worktree = url.map(|url| WorktreeOrder {
        branch: BranchName::parse("fix").unwrap(),
        start: BranchStart::DefaultBranch,
        url: Some(RepositoryUrl::parse(url).unwrap()),
        allows_commands_of_fork: false,
    });
    project
}

#[tokio::test]
async fn worktree_is_trusted_if_it_belongs_to_a_trusted_project_and_to_no_fork() {
    let own = || request("fix");
    let of = |url| in_repository("fix", url);
    let table = [
        ("repository of the project", project(None), own(), true, false, true),
        ("project is not trusted", project(None), own(), false, false, false),
        ("branch of a fork", project(None), own(), true, true, false),
        ("URL that the project names", project(Some(URL)), of(URL), true, false, true),
        ("another URL", project(Some(URL)), of("https://git.example.org/b"), true, false, false),
        ("URL that no agent names", project(None), of(URL), true, false, false),
    ];
    for (case, project, request, trusts, is_fork, expected) in table {
        let world = FakeWorld::new();
        let ports = world.ports();
        world.projects.write(project);
        let ask = |digest| TrustRequest { folder: samples::CWD.into(), digest };
        let digest = trust::trust(&ports, &ask(None)).await.unwrap().digest;
        if trusts {
            trust::trust(&ports, &ask(Some(digest))).await.unwrap();
        }
        let started = start_with(&world, &request).await.session.id;
        let mut state = SessionState::load(&ports, started).await.unwrap();
        assert!(state.worktree.is_some(), "{case}");
        if is_fork {
            let reference = RefName::parse("refs/pull/12/head").unwrap();
            state.worktree.as_mut().unwrap().start = BranchStart::PullRequest(reference);
        }
        assert_eq!(worktrees::is_trusted(&ports, &state).await.unwrap(), expected, "{case}");
    }
}

#[tokio::test]
async fn session_without_a_worktree_or_a_project_trusts_nothing() {
    let world = FakeWorld::new();
    let plain = SessionState::new(samples::session(1, "fox"));
    assert!(!worktrees::is_trusted(&world.ports(), &plain).await.unwrap());
    let started = start(&world, "fix").await.session.id;
    let state = SessionState::load(&world.ports(), started).await.unwrap();
    assert!(state.worktree.is_some());
    assert!(!worktrees::is_trusted(&world.ports(), &state).await.unwrap());
}
