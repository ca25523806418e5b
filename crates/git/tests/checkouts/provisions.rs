//! Files that a new worktree gets besides those of its branch.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use segue_core::model::{CheckoutNotice, EnsuredWorktree};

use crate::support::Scene;

async fn provide(scene: &Scene, include: &[&str], link: &[&str]) -> EnsuredWorktree {
    let mut spec = scene.spec(scene.app(), "x");
    spec.provision.from = Some(scene.path("app"));
    spec.provision.include = include.iter().map(|it| (*it).to_owned()).collect();
    spec.provision.link = link.iter().map(PathBuf::from).collect();
    scene.ensure(&spec).await.unwrap()
}

fn left_out(ensured: &EnsuredWorktree) -> Vec<String> {
    let path = |notice: &CheckoutNotice| match notice {
        CheckoutNotice::NotProvided { path, .. } => path.display().to_string(),
        other => panic!("{other:?}"),
    };
    ensured.notices.iter().map(path).collect()
}

#[tokio::test]
async fn included_files_are_copied_and_folders_are_linked() {
    let scene = Scene::new();
    scene.commit(scene.path("app"), ".gitignore", ".env\n*.local\nnode_modules\n");
    scene.write("app/.env", "A=1\n");
    scene.write("app/sub/.env", "B=2\n");
    scene.write("app/other.local", "x");
    scene.write("app/node_modules/pkg/index.js", "x");
    let ensured = provide(&scene, &[".env"], &["node_modules"]).await;
    assert_eq!(ensured.notices, []);
    assert_eq!(scene.read("worktrees/x/.env"), "A=1\n");
    assert_eq!(scene.read("worktrees/x/sub/.env"), "B=2\n");
    assert!(!ensured.path.join("other.local").exists());
    let target = fs::read_link(ensured.path.join("node_modules")).unwrap();
    assert_eq!(target, scene.path("app/node_modules"));
}

#[tokio::test]
async fn worktreeinclude_names_only_ignored_files() {
    let scene = Scene::new();
    scene.commit(scene.path("app"), ".gitignore", "*.local\n");
    scene.commit(scene.path("app"), ".worktreeinclude", "*.local\n*.txt\nfile\n");
    scene.write("app/a.local", "x");
    scene.write("app/untracked.txt", "x");
    let ensured = provide(&scene, &[], &[]).await;
    assert!(ensured.path.join("a.local").is_file());
    assert!(!ensured.path.join("untracked.txt").exists());
    assert_eq!(ensured.notices, []);
}

#[tokio::test]
async fn nothing_is_copied_through_symlinks_or_over_files() {
    let scene = Scene::new();
    let app = scene.path("app");
    scene.write("outside/secret", "x");
    symlink(scene.path("outside"), app.join("way")).unwrap();
    scene.git(&app, &["add", "way"]);
    scene.git(&app, &["commit", "-q", "-m", "way out"]);
    // In the user's folder it is a real folder. In the branch it is a symlink.
    fs::remove_file(app.join("way")).unwrap();
    scene.write("app/way/.env", "leaks");
    symlink(scene.path("outside/secret"), app.join("secret.env")).unwrap();
    symlink("file", app.join("inside.env")).unwrap();
    scene.write("app/.gitignore", "x\n");
    let ensured = provide(&scene, &[".env", "*.env"], &["missing", "../outside", "way"]).await;
    let mut wanted = ["way/.env", "secret.env", "missing", "../outside", "way"];
    let mut found = left_out(&ensured);
    found.sort();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    assert_eq!(fs::read_dir(scene.path("outside")).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(ensured.path.join("inside.env")).unwrap(), "one\n");
}
