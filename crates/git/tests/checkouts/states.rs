//! What happens to a worktree that users, agents and crashes have left in some state.

use std::fs;
use std::os::unix::fs::symlink;

use segue_core::Kind;
use segue_core::model::{CheckoutNotice, GitOperation, WorktreeChanges, WorktreeOrigin};

use crate::support::{Scene, refused};

#[tokio::test]
async fn dirty_worktree_is_used_as_it_is_and_reported() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/file", "changed\n");
    scene.write("worktrees/x/staged", "x");
    scene.git(&path, &["add", "staged"]);
    scene.write("worktrees/x/untracked", "x");
    let before = scene.state(&path);
    let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    let changes = WorktreeChanges { staged: 1, modified: 1, untracked: 1, conflicted: 0 };
    assert_eq!((ensured.origin, ensured.changes), (WorktreeOrigin::Existing, changes));
    assert_eq!(ensured.notices, []);
    assert_eq!(scene.state(&path), before);
}

#[tokio::test]
async fn merge_and_rebase_in_progress_are_left_alone() {
    for (command, operation) in [("merge", GitOperation::Merge), ("rebase", GitOperation::Rebase)] {
        let scene = Scene::new();
        let path = scene.worktree("x").await;
        scene.commit(&path, "file", "x\n");
        scene.commit(scene.path("app"), "file", "y\n");
        assert!(!scene.try_git(&path, &[command, "main"]).status.success());
        let before = scene.state(&path);
        let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
        assert_eq!(ensured.origin, WorktreeOrigin::Existing);
        assert_eq!((ensured.operation, ensured.changes.conflicted), (Some(operation), 1));
        assert_eq!(scene.state(&path), before);
        scene.git(&path, &[command, "--abort"]);
    }
}

#[tokio::test]
async fn cherry_pick_revert_and_mails_in_progress_are_left_alone() {
    for (command, operation) in [
        ("cherry-pick", GitOperation::CherryPick),
        ("revert", GitOperation::Revert),
        ("am", GitOperation::ApplyMail),
    ] {
        let scene = Scene::new();
        let path = scene.worktree("x").await;
        scene.commit(&path, "file", "x\n");
        let theirs = scene.commit(scene.path("app"), "file", "y\n");
        let before = scene.git(&path, &["rev-parse", "HEAD"]);
        let mail = scene.git(scene.path("app"), &["format-patch", "-1", "--stdout"]);
        scene.write("mail", mail + "\n");
        scene.commit(&path, "file", "z\n");
        let argument = match operation {
            GitOperation::Revert => before,
            GitOperation::ApplyMail => scene.path("mail").display().to_string(),
            _ => theirs,
        };
        assert!(!scene.try_git(&path, &[command, &argument]).status.success());
        let before = scene.state(&path);
        let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
        assert_eq!(
            (ensured.origin, ensured.operation),
            (WorktreeOrigin::Existing, Some(operation))
        );
        assert_eq!(scene.state(&path), before);
        scene.git(&path, &[command, "--abort"]);
    }
}

#[tokio::test]
async fn bisection_in_progress_is_left_alone_on_its_branch() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    for name in ["a", "b", "c", "d"] {
        scene.commit(&path, name, name);
    }
    scene.git(&path, &["bisect", "start", "HEAD", "HEAD~4"]);
    let before = scene.git(&path, &["rev-parse", "HEAD"]);
    let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    assert_eq!(ensured.operation, Some(GitOperation::Bisect));
    assert_eq!(ensured.branch.as_deref(), Some("x"));
    assert_eq!(scene.git(&path, &["rev-parse", "HEAD"]), before);
}

#[tokio::test]
async fn worktree_on_another_branch_is_refused_with_both_names() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.git(&path, &["checkout", "-q", "-b", "by-hand"]);
    let error = refused(scene.ensure(&scene.spec(scene.app(), "x")).await);
    assert_eq!(error.kind, Kind::Conflict);
    let shown = path.display();
    let message = format!("the worktree `{shown}` is on branch `by-hand`, not on branch `x`");
    assert_eq!(error.message, message);
    scene.git(&path, &["checkout", "-q", "--detach"]);
    let error = refused(scene.ensure(&scene.spec(scene.app(), "x")).await);
    assert!(error.message.contains("is on no branch"), "{error}");
    assert_eq!(scene.git(&path, &["rev-parse", "--abbrev-ref", "HEAD"]), "HEAD");
}

#[tokio::test]
async fn deleted_folder_is_made_again_and_other_entries_stay() {
    let scene = Scene::new();
    let other = scene.worktree("other").await;
    let path = scene.worktree("x").await;
    let commit = scene.commit(&path, "work", "x");
    fs::remove_dir_all(&path).unwrap();
    fs::remove_dir_all(&other).unwrap();
    let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    assert_eq!(ensured.head.unwrap().as_str(), commit);
    assert_eq!(ensured.notices, [CheckoutNotice::FolderWasGone { salvage: None }]);
    let list = scene.git(scene.path("app"), &["worktree", "list"]);
    assert!(list.contains("[other]") && list.contains("[x]"), "{list}");
}

#[tokio::test]
async fn staged_files_of_a_deleted_folder_are_salvaged() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/staged", "only in the index");
    scene.git(&path, &["add", "staged"]);
    fs::remove_dir_all(&path).unwrap();
    let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    let [CheckoutNotice::FolderWasGone { salvage: Some(salvage) }] = &ensured.notices[..] else {
        panic!("{:?}", ensured.notices)
    };
    let blob = format!("{}:index-0/staged", salvage.reference);
    assert_eq!(scene.git(&path, &["cat-file", "blob", &blob]), "only in the index");
    scene.check(&scene.path("app"));
}

#[tokio::test]
async fn emptied_folder_is_made_again() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    fs::remove_dir_all(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    assert_eq!(ensured.origin, WorktreeOrigin::LocalBranch);
    assert!(path.join("file").is_file());
}

#[tokio::test]
async fn moved_folder_is_repaired_with_its_changes() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/untracked", "x");
    let moved = scene.path("worktrees/moved");
    fs::rename(&path, &moved).unwrap();
    let mut spec = scene.spec(scene.app(), "x");
    spec.path.clone_from(&moved);
    let ensured = scene.ensure(&spec).await.unwrap();
    assert_eq!((ensured.origin, ensured.changes.untracked), (WorktreeOrigin::Existing, 1));
    assert_eq!(ensured.notices, [CheckoutNotice::Repaired { path: moved }]);
    scene.check(&scene.path("app"));
}

#[tokio::test]
async fn copied_folder_is_refused() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    let copy = scene.path("worktrees/copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(path.join(".git"), copy.join(".git")).unwrap();
    let mut spec = scene.spec(scene.app(), "x");
    spec.path.clone_from(&copy);
    let error = refused(scene.ensure(&spec).await);
    assert!(error.message.contains("is a copy of the worktree at"), "{error}");
    assert_eq!(scene.git(&path, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn worktree_that_the_user_has_locked_is_used_but_not_made_again() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    let shown = path.display().to_string();
    scene.git(scene.path("app"), &["worktree", "lock", "--reason", "on a stick", &shown]);
    let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    assert_eq!(ensured.origin, WorktreeOrigin::Existing);
    fs::remove_dir_all(&path).unwrap();
    let error = refused(scene.ensure(&scene.spec(scene.app(), "x")).await);
    assert_eq!(error.causes, ["on a stick"]);
    assert!(!path.exists());
    let list = scene.git(scene.path("app"), &["worktree", "list", "--porcelain"]);
    assert!(list.contains("locked on a stick"), "{list}");
}

#[tokio::test]
async fn folder_that_git_does_not_list_is_refused_and_stays() {
    let scene = Scene::new();
    scene.write("worktrees/x/precious", "x");
    let spec = scene.spec(scene.app(), "x");
    let error = refused(scene.ensure(&spec).await);
    assert!(error.message.contains("git does not list it"), "{error}");
    assert_eq!(scene.read("worktrees/x/precious"), "x");
    scene.git(&spec.path, &["init", "-q"]);
    let error = refused(scene.ensure(&spec).await);
    assert!(error.message.contains("a repository of its own"), "{error}");
    fs::remove_dir_all(&spec.path).unwrap();
    fs::write(&spec.path, "a file").unwrap();
    let error = refused(scene.ensure(&spec).await);
    assert!(error.message.contains("is not a folder"), "{error}");
    fs::remove_file(&spec.path).unwrap();
    symlink(scene.path("app"), &spec.path).unwrap();
    assert!(scene.ensure(&spec).await.is_err());
    let branches = scene.git(scene.path("app"), &["branch", "--list", "x"]);
    assert_eq!(branches, "");
}

#[tokio::test]
async fn broken_or_missing_link_is_repaired() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/untracked", "x");
    for content in [Some("garbage\n"), Some("gitdir: /nowhere\n"), Some(""), None] {
        match content {
            Some(content) => fs::write(path.join(".git"), content).unwrap(),
            None => fs::remove_file(path.join(".git")).unwrap(),
        }
        let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
        assert_eq!(ensured.origin, WorktreeOrigin::Existing, "{content:?}");
        assert_eq!(ensured.changes.untracked, 1);
    }
    fs::remove_file(path.join(".git")).unwrap();
    scene.git(&path, &["init", "-q"]);
    let error = refused(scene.ensure(&scene.spec(scene.app(), "x")).await);
    assert!(error.message.contains("a repository of its own"), "{error}");
}

#[tokio::test]
async fn moved_main_repository_is_repaired() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/untracked", "x");
    fs::rename(scene.path("app"), scene.path("app2")).unwrap();
    let source = segue_core::model::RepositorySource::Folder(scene.path("app2"));
    let ensured = scene.ensure(&scene.spec(source, "x")).await.unwrap();
    assert_eq!(ensured.origin, WorktreeOrigin::Existing);
    assert_eq!(ensured.notices, [CheckoutNotice::Repaired { path: path.clone() }]);
    assert_eq!(scene.git(&path, &["status", "--porcelain"]), "?? untracked");
}

#[tokio::test]
async fn path_with_a_symlink_leads_to_the_same_worktree() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    symlink(scene.path("worktrees"), scene.path("link")).unwrap();
    let mut spec = scene.spec(scene.app(), "x");
    spec.path = scene.path("link/x");
    let ensured = scene.ensure(&spec).await.unwrap();
    assert_eq!((ensured.origin, ensured.path), (WorktreeOrigin::Existing, path));
}
