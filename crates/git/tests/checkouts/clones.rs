//! Shared clones of repositories that are known by URL.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use segue_core::Kind;
use segue_core::model::{
    BranchStart, CheckoutNotice, EnsuredWorktree, RepositoryUrl, WorktreeOrigin, WorktreePlace,
};
use segue_core::ports::{Checkouts as _, GitProgress, RemovalOrder};

use crate::support::{Scene, refused};

/// Returns the aside folder of a replaced clone, and what was lost.
fn replaced(ensured: &EnsuredWorktree) -> (PathBuf, Vec<String>) {
    match &ensured.notices[..] {
        [CheckoutNotice::CloneReplaced { aside, lost, .. }] => (aside.clone(), lost.clone()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn two_worktrees_of_one_url_share_one_clone_and_the_second_only_fetches() {
    let scene = Scene::with_remote();
    let first = scene.ensure(&scene.spec(scene.remote(), "a")).await.unwrap();
    let clone = scene.clone_folder();
    let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let before = inode(&clone);
    let pushed = scene.push_branch("theirs");
    let again = scene.ensure(&scene.spec(scene.remote(), "a")).await.unwrap();
    assert_eq!((again.origin, &again.path), (WorktreeOrigin::Existing, &first.path));
    assert_eq!(scene.git(&clone, &["rev-parse", "refs/remotes/origin/theirs"]), pushed);
    let second = scene.ensure(&scene.spec(scene.remote(), "theirs")).await.unwrap();
    assert_eq!(second.origin, WorktreeOrigin::RemoteBranch);
    assert_eq!((scene.clone_folder(), inode(&clone)), (clone.clone(), before));
    assert_eq!(fs::read_dir(scene.path("data/clones")).unwrap().count(), 1);
    scene.check(&clone);
}

#[tokio::test]
async fn clone_is_bare_and_partial_and_keeps_the_branches_of_the_remote_separate() {
    let scene = Scene::with_remote();
    scene.write("origin/never/checked/out", "x".repeat(10_000));
    scene.git(scene.path("origin"), &["add", "."]);
    scene.git(scene.path("origin"), &["commit", "-q", "-m", "large"]);
    let large = scene.git(scene.path("origin"), &["rev-parse", "HEAD:never/checked/out"]);
    scene.git(scene.path("origin"), &["rm", "-q", "-r", "never"]);
    scene.git(scene.path("origin"), &["commit", "-q", "-m", "gone"]);
    scene.git(scene.path("origin"), &["push", "-q", &scene.url(), "main"]);
    scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    let clone = scene.clone_folder();
    assert_eq!(scene.git(&clone, &["rev-parse", "--is-bare-repository"]), "true");
    let heads = scene.git(&clone, &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(heads, "refs/heads/x\nrefs/remotes/origin/HEAD\nrefs/remotes/origin/main");
    let objects = ["cat-file", "--batch-all-objects", "--batch-check", "--unordered"];
    assert!(!scene.git(&clone, &objects).contains(&large), "the clone has a file of the past");
    scene.check(&clone);
}

#[tokio::test]
async fn server_without_filters_is_cloned_completely() {
    let scene = Scene::with_remote();
    scene.git(scene.path("remote.git"), &["config", "uploadpack.allowFilter", "false"]);
    let ensured = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    assert!(ensured.path.join("file").is_file());
    scene.check(&scene.clone_folder());
}

#[tokio::test]
async fn repository_with_sha256_is_cloned() {
    let scene = Scene::empty();
    let format = "--object-format=sha256";
    scene.git(scene.path(""), &["init", "-q", format, "origin"]);
    scene.git(scene.path(""), &["init", "-q", "--bare", format, "remote.git"]);
    scene.commit(scene.path("origin"), "file", "x");
    scene.git(scene.path("origin"), &["push", "-q", &scene.url(), "main"]);
    let ensured = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    assert_eq!(ensured.head.unwrap().as_str().len(), 64);
    scene.write("worktrees/x/untracked", "x");
    let place = WorktreePlace { source: scene.remote(), path: ensured.path.clone() };
    let order = RemovalOrder { place, include: Vec::new(), used_by: None };
    let outcome = scene.checkouts.remove(&order).await.unwrap();
    assert_eq!(outcome.salvage().unwrap().commit.as_str().len(), 64);
}

#[tokio::test]
async fn deleted_branch_of_the_remote_is_pruned() {
    let scene = Scene::with_remote();
    scene.push_branch("theirs");
    scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    scene.git(scene.path("remote.git"), &["branch", "-D", "theirs"]);
    scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    let names = scene.git(scene.clone_folder(), &["branch", "-r"]);
    assert!(!names.contains("theirs"), "{names}");
}

#[tokio::test]
async fn unreachable_remote_is_an_error_with_the_message_of_git() {
    let scene = Scene::with_remote();
    fs::rename(scene.path("remote.git"), scene.path("away")).unwrap();
    let error = refused(scene.ensure(&scene.spec(scene.remote(), "x")).await);
    assert_eq!(error.kind, Kind::Unavailable);
    assert!(error.to_string().contains("does not appear to be a git repository"), "{error}");
    assert_eq!(fs::read_dir(scene.path("data/clones")).unwrap().count(), 0);
}

#[tokio::test]
async fn known_branch_can_be_used_while_the_remote_is_unreachable() {
    let scene = Scene::with_remote();
    scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    fs::rename(scene.path("remote.git"), scene.path("away")).unwrap();
    let ensured = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    assert!(matches!(&ensured.notices[..], [CheckoutNotice::NotFetched { .. }]), "{ensured:?}");
    let error = refused(scene.ensure(&scene.spec(scene.remote(), "new")).await);
    assert_eq!(error.kind, Kind::Unavailable);
}

#[tokio::test]
async fn clone_without_head_is_replaced_and_its_worktrees_and_branches_stay() {
    let scene = Scene::with_remote();
    let path = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap().path;
    let commit = scene.commit(&path, "unpushed", "x");
    scene.write("worktrees/x/staged", "only staged");
    scene.git(&path, &["add", "staged"]);
    scene.write("worktrees/x/untracked", "x");
    let before = scene.state(&path);
    fs::remove_file(scene.clone_folder().join("HEAD")).unwrap();
    let ensured = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    let (aside, lost) = replaced(&ensured);
    assert!(aside.is_dir() && lost.is_empty(), "{lost:?}");
    assert_eq!(
        (ensured.origin, ensured.head.unwrap().as_str()),
        (WorktreeOrigin::Existing, &*commit)
    );
    assert_eq!(scene.state(&path), before);
    let blob = scene.git(&path, &["cat-file", "blob", ":staged"]);
    assert_eq!(blob, "only staged");
    scene.check(&scene.clone_folder());
}

#[tokio::test]
async fn replaced_clone_keeps_stashes_tags_and_commits_of_detached_worktrees() {
    let scene = Scene::with_remote();
    let path = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap().path;
    for content in ["older stash", "newer stash"] {
        scene.write("worktrees/x/file", content);
        scene.git(&path, &["stash", "-q"]);
    }
    scene.git(&path, &["tag", "-a", "-m", "mine", "mine"]);
    scene.git(&path, &["checkout", "-q", "--detach"]);
    let commit = scene.commit(&path, "detached", "x");
    scene.git(&path, &["update-index", "--split-index"]);
    scene.write("worktrees/x/staged", "only staged");
    scene.git(&path, &["add", "staged"]);
    fs::remove_file(scene.clone_folder().join("HEAD")).unwrap();
    let ensured = scene.ensure(&scene.spec(scene.remote(), "y")).await.unwrap();
    let (_, lost) = replaced(&ensured);
    assert_eq!(lost, Vec::<String>::new());
    assert_eq!(scene.git(&path, &["rev-parse", "HEAD"]), commit);
    assert_eq!(scene.git(&path, &["status", "--porcelain"]), "A  staged");
    assert_eq!(scene.git(&path, &["cat-file", "blob", "stash@{0}:file"]), "newer stash");
    assert_eq!(scene.git(&path, &["cat-file", "blob", "stash@{1}:file"]), "older stash");
    assert_eq!(scene.git(&path, &["cat-file", "-t", "mine"]), "tag");
    scene.check(&scene.clone_folder());
}

#[tokio::test]
async fn clone_whose_replacement_was_interrupted_is_fetched_before_use() {
    let scene = Scene::with_remote();
    scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    let clone = scene.clone_folder();
    let name = clone.file_name().unwrap().to_str().unwrap().to_owned();
    let old = clone.with_file_name(format!("{name}.replaced-20260101T000000Z-0123"));
    scene.git(scene.path(""), &["init", "-q", "--bare", old.to_str().unwrap()]);
    let pushed = scene.push_branch("theirs");
    let ensured = scene.ensure(&scene.spec(scene.remote(), "theirs")).await.unwrap();
    assert_eq!(ensured.head.unwrap().as_str(), pushed);
    assert!(!old.exists());
}

#[tokio::test]
async fn clone_with_damaged_objects_is_replaced_and_lost_refs_are_named() {
    let scene = Scene::with_remote();
    let path = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap().path;
    let commit = scene.commit(&path, "unpushed", "x");
    scene.ensure(&scene.spec(scene.remote(), "healthy")).await.unwrap();
    let object = scene.clone_folder().join("objects").join(&commit[..2]).join(&commit[2..]);
    fs::remove_file(&object).unwrap();
    fs::write(&object, "").unwrap();
    let ensured = scene.ensure(&scene.spec(scene.remote(), "healthy")).await.unwrap();
    let (aside, lost) = replaced(&ensured);
    assert!(aside.is_dir());
    assert!(lost.iter().any(|it| it.starts_with("refs/heads/x:")), "{lost:?}");
    assert!(path.join("unpushed").is_file());
    let head = scene.git(scene.path("worktrees/healthy"), &["rev-parse", "HEAD"]);
    assert_eq!(scene.git(scene.clone_folder(), &["rev-parse", "refs/heads/healthy"]), head);
}

#[tokio::test]
async fn clone_with_a_broken_ref_is_replaced() {
    let scene = Scene::with_remote();
    scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    fs::write(scene.clone_folder().join("refs/heads/broken"), "").unwrap();
    let ensured = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    assert!(replaced(&ensured).0.is_dir());
    let ensured = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    assert_eq!(ensured.notices, []);
}

#[tokio::test]
async fn temporary_folder_of_a_killed_clone_is_removed() {
    let scene = Scene::with_remote();
    scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    let clone = scene.clone_folder();
    let name = clone.file_name().unwrap().to_str().unwrap().to_owned();
    let left = clone.with_file_name(format!("{name}.new-0123"));
    fs::create_dir_all(left.join("objects")).unwrap();
    scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap();
    assert!(!left.exists());
}

#[tokio::test]
async fn progress_of_a_clone_is_reported() {
    let scene = Scene::with_remote();
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = lines.clone();
    let mut caller = scene.caller();
    caller.progress = GitProgress::new(move |line| sink.lock().unwrap().push(line.to_owned()));
    scene.checkouts.ensure(&scene.spec(scene.remote(), "x"), &caller).await.unwrap();
    let lines = lines.lock().unwrap().clone();
    assert!(lines.iter().any(|line| line.contains("objects")), "{lines:?}");
}

#[tokio::test]
async fn ten_worktrees_share_one_object_store() {
    let scene = Scene::with_remote();
    for number in 0..10 {
        let ensured =
            scene.ensure(&scene.spec(scene.remote(), &format!("b{number}"))).await.unwrap();
        assert!(ensured.path.join(".git").is_file());
    }
    assert_eq!(scene.git(scene.clone_folder(), &["worktree", "list"]).lines().count(), 11);
    scene.checkouts.maintain(&scene.remote()).await.unwrap();
    scene.check(&scene.clone_folder());
}

#[tokio::test]
async fn base_is_found_among_the_branches_of_the_remote() {
    let scene = Scene::with_remote();
    let pushed = scene.push_branch("release");
    let mut spec = scene.spec(scene.remote(), "fix");
    spec.start = BranchStart::Base("release".to_owned());
    let ensured = scene.ensure(&spec).await.unwrap();
    assert_eq!(ensured.head.unwrap().as_str(), pushed);
}

#[tokio::test]
async fn repository_is_identified_by_its_remote_without_credentials() {
    let scene = Scene::with_remote();
    let app = scene.path("app");
    let id = |text: &str| RepositoryUrl::parse(text).unwrap().id();
    let identify = async |path: &str| scene.checkouts.identify(&scene.path(path)).await.unwrap();
    assert_eq!(identify("app").await, Some(id(&scene.url())));
    let url = "https://me:t0ken@git.example.org/team/app.git";
    scene.git(&app, &["remote", "set-url", "origin", url]);
    assert_eq!(identify("app").await, Some(id("https://git.example.org/team/app")));
    let path = scene.worktree("x").await;
    assert_eq!(scene.checkouts.identify(&path).await.unwrap(), identify("app").await);
    scene.git(&app, &["remote", "remove", "origin"]);
    assert_eq!(identify("app").await.unwrap().as_str(), app.display().to_string());
    assert_eq!(identify("home").await, None);
}
