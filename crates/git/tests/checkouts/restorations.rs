//! Restoring a salvage replaces nothing and moves no branch.

use std::fs;
use std::path::PathBuf;

use segue_core::Kind;
use segue_core::ports::{Checkouts as _, RestorationOrder};

use crate::files::contents;
use crate::support::{Scene, branch, refused};

#[tokio::test]
async fn restore_overwrites_nothing_and_moves_no_branch() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/untracked", "x");
    let outcome = scene.remove(&path).await.unwrap();
    let reference = outcome.salvage().unwrap().reference.clone();
    scene.write("worktrees/x/something", "else");
    assert_eq!(refused(scene.restore(&reference).await).kind, Kind::Conflict);
    assert_eq!(contents(&path).len(), 1);
    fs::remove_dir_all(&path).unwrap();
    let elsewhere = scene.path("worktrees/elsewhere").display().to_string();
    scene.git(scene.path("app"), &["worktree", "add", "-q", &elsewhere, "x"]);
    let error = refused(scene.restore(&reference).await);
    assert!(error.message.contains("is checked out at"), "{error}");
    scene.commit(PathBuf::from(&elsewhere), "more", "x");
    scene.git(scene.path("app"), &["worktree", "remove", &elsewhere]);
    let error = refused(scene.restore(&reference).await);
    assert!(error.message.starts_with("branch `x` is at"), "{error}");
    assert!(!path.exists());
    let branch = Some(branch("x-restored"));
    let order = RestorationOrder { source: scene.app(), salvage: reference, branch };
    let restored = scene.checkouts.restore(&order, &scene.caller()).await.unwrap();
    assert_eq!(restored.branch.as_deref(), Some("x-restored"));
    assert_eq!(restored.changes.untracked, 1);
}

#[tokio::test]
async fn salvage_of_a_branch_with_an_unusable_name_is_restored_on_a_new_branch_only() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.git(&path, &["checkout", "-q", "-b", "no\u{a0}break"]);
    scene.write("worktrees/x/untracked", "x");
    let outcome = scene.remove(&path).await.unwrap();
    let salvage = outcome.salvage().unwrap().reference.clone();
    let error = refused(scene.restore(&salvage).await);
    assert!(error.message.contains("cannot be used"), "{error}");
    let order = RestorationOrder { source: scene.app(), salvage, branch: Some(branch("y")) };
    let restored = scene.checkouts.restore(&order, &scene.caller()).await.unwrap();
    assert_eq!(restored.branch.as_deref(), Some("y"));
}

#[tokio::test]
async fn deleted_branch_is_made_again_by_restore() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    let commit = scene.commit(&path, "work", "x");
    scene.write("worktrees/x/untracked", "x");
    let outcome = scene.remove(&path).await.unwrap();
    scene.git(scene.path("app"), &["branch", "-q", "-D", "x"]);
    let restored = scene.restore(&outcome.salvage().unwrap().reference).await.unwrap();
    assert_eq!(
        (restored.branch.as_deref(), restored.head.unwrap().as_str()),
        (Some("x"), &*commit)
    );
}
