//! Facts about worktrees, and their diffs.

use std::fs;

use segue_core::Kind;
use segue_core::model::{Divergence, FileDiff, WorktreePlace};
use segue_core::ports::{Checkouts as _, InspectDepth};

use crate::support::{Scene, refused};

#[tokio::test]
async fn inspect_reports_changes_distance_size_and_age() {
    let scene = Scene::with_remote();
    scene.push_branch("theirs");
    scene.git(scene.path("app"), &["fetch", "-q"]);
    let path = scene.worktree("theirs").await;
    scene.commit(&path, "ahead", "x");
    scene.write("worktrees/theirs/untracked", vec![b'x'; 100_000]);
    scene.git(&path, &["worktree", "lock", "--reason", "mine", "."]);
    let place = scene.place(&path);
    let facts = scene.checkouts.inspect(&place, InspectDepth::State).await.unwrap();
    assert_eq!(facts.size_bytes, None);
    let facts = scene.checkouts.inspect(&place, InspectDepth::StateAndSize).await.unwrap();
    let distance = |from: &str, ahead| Some(Divergence { from: from.to_owned(), ahead, behind: 0 });
    assert_eq!(facts.upstream, distance("origin/theirs", 1));
    assert_eq!(facts.default_branch, distance("origin/main", 2));
    assert_eq!(facts.listed.locked.as_deref(), Some("mine"));
    assert_eq!((facts.changes.untracked, facts.operation), (1, None));
    assert!(facts.size_bytes.unwrap() >= 100_000, "{facts:?}");
    assert!(facts.created_at.is_some());
    assert!(!facts.has_submodules);
    let missing = scene.place(&scene.path("nowhere"));
    let error = refused(scene.checkouts.inspect(&missing, InspectDepth::State).await);
    assert_eq!(error.kind, Kind::NotFound);
}

#[tokio::test]
async fn diff_shows_committed_staged_changed_and_untracked_files() {
    let scene = Scene::with_remote();
    let path = scene.worktree("x").await;
    scene.commit(&path, "committed", "1\n2\n");
    scene.write("worktrees/x/staged", "1\n");
    scene.git(&path, &["add", "staged"]);
    scene.write("worktrees/x/file", "changed\n");
    scene.write("worktrees/x/new/untracked", "1\n2\n3\n");
    scene.write("worktrees/x/binary", [0, 1, 2]);
    // The base has moved since.
    scene.push_branch("other");
    let before = scene.state(&path);
    let diff = async |bytes| {
        let place = scene.place(&path);
        scene.checkouts.diff(&place, None, bytes, &scene.caller()).await.unwrap()
    };
    let found = diff(1 << 20).await;
    let file = |path: &str, lines| FileDiff { path: path.into(), lines };
    let wanted = [
        file("binary", None),
        file("committed", Some((2, 0))),
        file("file", Some((1, 1))),
        file("new/untracked", Some((3, 0))),
        file("staged", Some((1, 0))),
    ];
    assert_eq!(found.files, wanted);
    assert!(!found.is_cut);
    assert!(String::from_utf8(found.patch).unwrap().contains("+changed"));
    let cut = diff(100).await;
    assert_eq!((cut.patch.len(), cut.is_cut, cut.files.len()), (100, true, 5));
    assert_eq!(scene.state(&path), before);
}

#[tokio::test]
async fn diff_of_a_partial_clone_fetches_the_missing_files() {
    let scene = Scene::with_remote();
    let path = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap().path;
    scene.git(&path, &["rm", "-q", "file"]);
    scene.git(&path, &["commit", "-q", "-m", "removed"]);
    let second = scene.ensure(&scene.spec(scene.remote(), "y")).await.unwrap().path;
    fs::write(second.join("file"), "changed").unwrap();
    let place = WorktreePlace { source: scene.remote(), path };
    let diff = scene.checkouts.diff(&place, None, 1 << 20, &scene.caller()).await.unwrap();
    assert_eq!(diff.files, [FileDiff { path: "file".into(), lines: Some((0, 1)) }]);
}

#[tokio::test]
async fn diff_before_the_first_commit_shows_everything() {
    let scene = Scene::empty();
    scene.git(scene.path(""), &["init", "-q", "app"]);
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/new", "1\n");
    let place = scene.place(&path);
    let diff = scene.checkouts.diff(&place, None, 1 << 20, &scene.caller()).await.unwrap();
    assert_eq!((diff.base, diff.files.len()), (None, 1));
}

#[tokio::test]
async fn repository_without_a_clone_has_no_worktrees() {
    let scene = Scene::with_remote();
    assert_eq!(scene.checkouts.list(&scene.remote()).await.unwrap(), []);
    assert_eq!(scene.checkouts.salvages(&scene.remote()).await.unwrap(), []);
    scene.checkouts.maintain(&scene.remote()).await.unwrap();
}

#[tokio::test]
async fn commits_since_a_base_are_listed_oldest_first() {
    let scene = Scene::with_remote();
    let path = scene.worktree("x").await;
    let place = scene.place(&path);
    let base = scene.checkouts.head(&place).await.unwrap().unwrap();
    let since = async |limit| {
        let found = scene.checkouts.commits_since(&place, Some(&base), limit).await.unwrap();
        found.into_iter().map(|commit| commit.subject).collect::<Vec<_>>()
    };
    assert_eq!(since(10).await, Vec::<String>::new());
    // An agent can change the settings of its repository.
    let marker = scene.path("marker");
    let program = scene.program("gpg", &format!("touch {}", marker.display()));
    for (key, value) in [("log.showSignature", "true"), ("gpg.program", program.as_str())] {
        scene.git(&path, &["config", key, value]);
    }
    for name in ["one", "two", "three"] {
        scene.commit(&path, name, "x");
    }
    let all = since(10).await;
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(all[0].contains("one") && all[2].contains("three"), "{all:?}");
    assert_eq!(since(2).await, all[1..]);
    assert!(!marker.exists());
    // The history was rewritten.
    scene.git(&path, &["reset", "-q", "--hard", "HEAD~2"]);
    assert_eq!(since(10).await, all[..1]);
}

#[tokio::test]
async fn worktree_around_a_folder_is_the_nearest_checkout() {
    let scene = Scene::with_remote();
    let path = scene.worktree("x").await;
    let inner = path.join("a/b");
    fs::create_dir_all(&inner).unwrap();
    let found = scene.checkouts.around(&inner).unwrap();
    assert_eq!(found, WorktreePlace { path, ..scene.place(&scene.path("app")) });
    assert_eq!(scene.checkouts.around(&scene.path("home")), None);
}
