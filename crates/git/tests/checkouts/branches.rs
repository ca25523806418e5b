//! What the branch of a new worktree is made from.

use segue_core::Kind;
use segue_core::model::{BranchStart, CheckoutNotice, RefName, WorktreeOrigin};
use segue_core::ports::Checkouts as _;

use crate::support::{Scene, refused};

#[tokio::test]
async fn existing_branch_is_checked_out_at_its_own_commit() {
    let scene = Scene::new();
    scene.git(scene.path("app"), &["checkout", "-q", "-b", "feature/x"]);
    let commit = scene.commit(scene.path("app"), "x", "x");
    scene.git(scene.path("app"), &["checkout", "-q", "main"]);
    let spec = scene.spec(scene.app(), "feature/x");
    let ensured = scene.ensure(&spec).await.unwrap();
    assert_eq!(ensured.origin, WorktreeOrigin::LocalBranch);
    assert_eq!(ensured.head.unwrap().as_str(), commit);
    assert_eq!(ensured.branch.as_deref(), Some("feature/x"));
    assert_eq!(scene.read("worktrees/feature-x/x"), "x");
    scene.check(&scene.path("app"));
    let again = scene.ensure(&spec).await.unwrap();
    assert_eq!(again.origin, WorktreeOrigin::Existing);
}

#[tokio::test]
async fn name_of_a_branch_and_a_tag_means_the_branch() {
    let scene = Scene::new();
    let app = scene.path("app");
    scene.git(&app, &["tag", "x"]);
    scene.git(&app, &["checkout", "-q", "-b", "x"]);
    let commit = scene.commit(&app, "of branch", "x");
    scene.git(&app, &["checkout", "-q", "main"]);
    let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    assert_eq!(ensured.branch.as_deref(), Some("x"));
    assert_eq!(ensured.head.unwrap().as_str(), commit);
    assert!(ensured.path.join("of branch").is_file());
}

#[tokio::test]
async fn branch_of_the_remote_is_tracked() {
    let scene = Scene::with_remote();
    let commit = scene.push_branch("their/work");
    scene.git(scene.path("app"), &["fetch", "-q"]);
    let ensured = scene.ensure(&scene.spec(scene.app(), "their/work")).await.unwrap();
    assert_eq!(ensured.origin, WorktreeOrigin::RemoteBranch);
    assert_eq!(ensured.head.unwrap().as_str(), commit);
    let upstream = scene.git(&ensured.path, &["rev-parse", "--abbrev-ref", "@{upstream}"]);
    assert_eq!(upstream, "origin/their/work");
}

#[tokio::test]
async fn new_branch_starts_at_the_default_branch_of_the_remote_and_tracks_nothing() {
    let scene = Scene::with_remote();
    let default = scene.git(scene.path("app"), &["rev-parse", "origin/main"]);
    scene.git(scene.path("app"), &["checkout", "-q", "-b", "elsewhere"]);
    scene.commit(scene.path("app"), "own", "x");
    let ensured = scene.ensure(&scene.spec(scene.app(), "new")).await.unwrap();
    let WorktreeOrigin::NewBranch { base, commit } = ensured.origin else { panic!() };
    assert_eq!((base.as_str(), commit.as_str()), ("origin/main", default.as_str()));
    let settings = scene.try_git(&ensured.path, &["config", "--get-regexp", "^branch.new"]);
    assert!(!settings.status.success());
}

#[tokio::test]
async fn new_branch_starts_at_the_named_base() {
    let scene = Scene::with_remote();
    let app = scene.path("app");
    let first = scene.git(&app, &["rev-parse", "HEAD"]);
    scene.git(&app, &["tag", "v1"]);
    scene.commit(&app, "second", "x");
    scene.push_branch("theirs");
    scene.git(&app, &["fetch", "-q"]);
    for (name, base, shown) in
        [("a", "v1", "v1"), ("b", &first[..12], &first[..12]), ("c", "theirs", "origin/theirs")]
    {
        let mut spec = scene.spec(scene.app(), name);
        spec.start = BranchStart::Base(base.to_owned());
        let ensured = scene.ensure(&spec).await.unwrap();
        let WorktreeOrigin::NewBranch { base, .. } = ensured.origin else { panic!() };
        assert_eq!(base, shown);
    }
    let mut spec = scene.spec(scene.app(), "d");
    for missing in ["no-such-base", "--all", "-x", ""] {
        spec.start = BranchStart::Base(missing.to_owned());
        let error = refused(scene.ensure(&spec).await);
        assert_eq!(error.kind, Kind::NotFound, "{error}");
    }
    assert!(!spec.path.exists());
}

#[tokio::test]
async fn repository_without_remote_and_with_detached_head_starts_at_its_commit() {
    let scene = Scene::new();
    let app = scene.path("app");
    let first = scene.git(&app, &["rev-parse", "HEAD"]);
    scene.commit(&app, "second", "x");
    scene.git(&app, &["checkout", "-q", "--detach", &first]);
    let ensured = scene.ensure(&scene.spec(scene.app(), "new")).await.unwrap();
    assert_eq!(ensured.head.unwrap().as_str(), first);
    assert_eq!(ensured.branch.as_deref(), Some("new"));
    assert_eq!(scene.git(&app, &["rev-parse", "--abbrev-ref", "HEAD"]), "HEAD");
}

#[tokio::test]
async fn pull_request_of_a_fork_is_fetched_by_its_ref_and_kept() {
    let scene = Scene::with_remote();
    let commit = scene.push_branch("theirs");
    let remote = scene.path("remote.git");
    scene.git(&remote, &["update-ref", "refs/pull/7/head", &commit]);
    scene.git(&remote, &["branch", "-D", "theirs"]);
    for source in [scene.app(), scene.remote()] {
        let name = if source == scene.app() { "pr/7" } else { "pr/7-clone" };
        let mut spec = scene.spec(source, name);
        spec.start = BranchStart::PullRequest(RefName::parse("refs/pull/7/head").unwrap());
        let ensured = scene.ensure(&spec).await.unwrap();
        assert!(matches!(ensured.origin, WorktreeOrigin::PullRequest { .. }), "{ensured:?}");
        assert_eq!(ensured.head.unwrap().as_str(), commit);
        let own = scene.commit(&ensured.path, "own", "x");
        assert_eq!(scene.ensure(&spec).await.unwrap().head.unwrap().as_str(), own);
        spec.start = BranchStart::PullRequest(RefName::parse("refs/pull/8/head").unwrap());
        spec.path = scene.path("worktrees/other");
        let error = refused(scene.ensure(&spec).await);
        assert!(error.message.contains("is checked out at"), "{error}");
    }
    let mut spec = scene.spec(scene.app(), "missing");
    spec.start = BranchStart::PullRequest(RefName::parse("refs/pull/9/head").unwrap());
    let error = refused(scene.ensure(&spec).await);
    assert!(error.to_string().contains("refs/pull/9/head"), "{error}");
}

#[tokio::test]
async fn branch_that_is_checked_out_in_the_users_folder_or_a_worktree_is_refused() {
    let scene = Scene::new();
    let error = refused(scene.ensure(&scene.spec(scene.app(), "main")).await);
    assert_eq!(error.kind, Kind::Conflict);
    let app = scene.path("app").display().to_string();
    assert_eq!(error.message, format!("branch `main` is checked out at `{app}`"));
    let first = scene.worktree("x").await;
    let mut spec = scene.spec(scene.app(), "x");
    spec.path = scene.path("worktrees/second");
    let error = refused(scene.ensure(&spec).await);
    assert!(error.message.ends_with(&format!("checked out at `{}`", first.display())), "{error}");
    assert!(!spec.path.exists());
}

#[tokio::test]
async fn branch_that_is_being_rebased_elsewhere_is_refused() {
    let scene = Scene::new();
    let app = scene.path("app");
    scene.git(&app, &["checkout", "-q", "-b", "x"]);
    scene.commit(&app, "file", "x\n");
    scene.git(&app, &["checkout", "-q", "main"]);
    scene.commit(&app, "file", "y\n");
    scene.git(&app, &["checkout", "-q", "x"]);
    assert!(!scene.try_git(&app, &["rebase", "main"]).status.success());
    let error = refused(scene.ensure(&scene.spec(scene.app(), "x")).await);
    assert!(error.message.starts_with("branch `x` is checked out at"), "{error}");
}

#[tokio::test]
async fn name_that_differs_only_in_case_is_refused() {
    let scene = Scene::new();
    scene.git(scene.path("app"), &["branch", "Fix"]);
    let error = refused(scene.ensure(&scene.spec(scene.app(), "fix")).await);
    assert_eq!(error.message, "branch `fix` differs only in case from `Fix`");
}

#[tokio::test]
async fn branch_that_is_a_prefix_of_another_is_refused() {
    let scene = Scene::new();
    scene.git(scene.path("app"), &["branch", "a"]);
    scene.git(scene.path("app"), &["branch", "b/c"]);
    for (wanted, other) in [("a/b", "a"), ("b", "b/c")] {
        let error = refused(scene.ensure(&scene.spec(scene.app(), wanted)).await);
        let message = format!("branch `{wanted}` cannot be made beside branch `{other}`");
        assert_eq!(error.message, message);
    }
}

#[tokio::test]
async fn default_branch_that_was_renamed_on_the_server_is_found() {
    let scene = Scene::with_remote();
    scene.ensure(&scene.spec(scene.remote(), "first")).await.unwrap();
    let remote = scene.path("remote.git");
    scene.git(&remote, &["branch", "-m", "main", "trunk"]);
    let ensured = scene.ensure(&scene.spec(scene.remote(), "second")).await.unwrap();
    let WorktreeOrigin::NewBranch { base, .. } = ensured.origin else { panic!() };
    assert_eq!(base, "origin/trunk");
    // The old branch may stay when another becomes the default.
    scene.git(&remote, &["branch", "develop", "trunk"]);
    scene.git(&remote, &["symbolic-ref", "HEAD", "refs/heads/develop"]);
    let ensured = scene.ensure(&scene.spec(scene.remote(), "third")).await.unwrap();
    let WorktreeOrigin::NewBranch { base, .. } = ensured.origin else { panic!() };
    assert_eq!(base, "origin/develop");
}

#[tokio::test]
async fn default_branch_that_was_renamed_is_found_in_the_users_own_repository() {
    let scene = Scene::with_remote();
    scene.git(scene.path("remote.git"), &["branch", "-m", "main", "trunk"]);
    scene.git(scene.path("app"), &["fetch", "-q", "--prune"]);
    let ensured = scene.ensure(&scene.spec(scene.app(), "new")).await.unwrap();
    let WorktreeOrigin::NewBranch { base, .. } = ensured.origin else { panic!() };
    assert_eq!(base, "origin/trunk");
}

#[tokio::test]
async fn empty_repository_gets_a_first_branch() {
    let scene = Scene::empty();
    scene.git(scene.path(""), &["init", "-q", "app"]);
    scene.git(scene.path(""), &["init", "-q", "--bare", "remote.git"]);
    for source in [scene.app(), scene.remote()] {
        let name = if source == scene.app() { "local" } else { "cloned" };
        let ensured = scene.ensure(&scene.spec(source, name)).await.unwrap();
        assert_eq!(ensured.origin, WorktreeOrigin::FirstBranch);
        assert_eq!((ensured.branch.as_deref(), ensured.head), (Some(name), None));
        scene.commit(&ensured.path, "first", "x");
        assert_eq!(scene.git(&ensured.path, &["rev-list", "--count", "HEAD"]), "1");
    }
    scene.check(&scene.path("app"));
}

#[tokio::test]
async fn shallow_original_can_have_worktrees() {
    let scene = Scene::with_remote();
    scene.commit(scene.path("origin"), "second", "x");
    scene.git(scene.path("origin"), &["push", "-q", &scene.url(), "main"]);
    scene.git(scene.path(""), &["clone", "-q", "--depth=1", &scene.url(), "shallow"]);
    let source = segue_core::model::RepositorySource::Folder(scene.path("shallow"));
    let ensured = scene.ensure(&scene.spec(source.clone(), "x")).await.unwrap();
    assert!(ensured.path.join("second").is_file());
    scene.write("worktrees/x/new", "x");
    let place = segue_core::model::WorktreePlace { source, path: ensured.path };
    assert!(scene.checkouts.salvage(&place, &[]).await.unwrap().salvage().is_some());
    scene.check(&scene.path("shallow"));
}

#[tokio::test]
async fn sparse_original_can_have_worktrees() {
    let scene = Scene::new();
    let app = scene.path("app");
    scene.write("app/in/file", "x");
    scene.write("app/out/file", "x");
    scene.git(&app, &["add", "."]);
    scene.git(&app, &["commit", "-q", "-m", "folders"]);
    scene.git(&app, &["sparse-checkout", "set", "in"]);
    let path = scene.worktree("x").await;
    assert!(path.join("in/file").is_file());
    assert!(!path.join("out/file").exists());
    let outcome = scene.remove(&path).await.unwrap();
    assert!(outcome.salvage().is_none(), "{outcome:?}");
}

#[tokio::test]
async fn submodules_are_reported_and_not_initialized() {
    let scene = Scene::with_remote();
    let app = scene.path("app");
    scene.git(&app, &["submodule", "--quiet", "add", &scene.url(), "sub"]);
    scene.git(&app, &["commit", "-q", "-m", "submodule"]);
    let mut spec = scene.spec(scene.app(), "x");
    spec.start = BranchStart::Base("main".to_owned());
    let ensured = scene.ensure(&spec).await.unwrap();
    assert_eq!(ensured.notices, [CheckoutNotice::HasSubmodules]);
    assert_eq!(std::fs::read_dir(ensured.path.join("sub")).unwrap().count(), 0);
}

#[tokio::test]
async fn files_of_a_filter_are_made_as_in_the_users_own_repository() {
    let scene = Scene::new();
    let app = scene.path("app");
    let smudge = scene.program("smudge", "sed s/pointer/content/");
    let clean = scene.program("clean", "sed s/content/pointer/");
    scene.git(&app, &["config", "--global", "filter.media.smudge", &smudge]);
    scene.git(&app, &["config", "--global", "filter.media.clean", &clean]);
    scene.write("app/.gitattributes", "*.bin filter=media\n");
    scene.write("app/a.bin", "content\n");
    scene.git(&app, &["add", "."]);
    scene.git(&app, &["commit", "-q", "-m", "media"]);
    assert_eq!(scene.git(&app, &["cat-file", "blob", "HEAD:a.bin"]), "pointer");
    let path = scene.worktree("x").await;
    assert_eq!(std::fs::read_to_string(path.join("a.bin")).unwrap(), "content\n");
    scene.settle(&path);
    let facts = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    assert!(facts.changes.is_clean(), "{facts:?}");
}
