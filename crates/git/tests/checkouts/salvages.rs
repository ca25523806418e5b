//! Salvages bring back everything that a removed worktree had.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use segue_core::Kind;
use segue_core::model::{GitOperation, Salvage, SalvageOutcome};
use segue_core::ports::Checkouts as _;

use crate::files::contents;
use crate::support::{Scene, branch, refused};

/// Removes a worktree, checks that it is gone, restores it, and checks that everything is back.
async fn round_trip(scene: &Scene, path: &Path) -> Salvage {
    let (state, files) = (scene.state(path), contents(path));
    let outcome = scene.remove(path).await.unwrap();
    let SalvageOutcome::Made(salvage) = outcome else { panic!("{outcome:?}") };
    assert!(!path.exists());
    scene.check(&scene.path("app"));
    scene.git(scene.path("app"), &["gc", "-q", "--prune=now"]);
    scene.restore(&salvage.reference).await.unwrap();
    assert_eq!(scene.state(path), state);
    assert_eq!(contents(path), files);
    scene.check(&scene.path("app"));
    salvage
}

#[tokio::test]
async fn staged_unstaged_and_untracked_changes_come_back() {
    let scene = Scene::new();
    let app = scene.path("app");
    for name in ["deleted", "removed", "renamed", "mode", "typed"] {
        scene.commit(&app, name, name);
    }
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/file", "staged\n");
    scene.git(&path, &["add", "file"]);
    scene.write("worktrees/x/file", "and changed again\n");
    fs::remove_file(path.join("deleted")).unwrap();
    scene.git(&path, &["rm", "-q", "removed"]);
    scene.git(&path, &["mv", "renamed", "other name"]);
    fs::set_permissions(path.join("mode"), Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(path.join("typed")).unwrap();
    symlink("file", path.join("typed")).unwrap();
    scene.write("worktrees/x/new/deep/untracked", [0, 159, 146, 150, b'\r', b'\n']);
    symlink("/nowhere", path.join("dangling")).unwrap();
    scene.write("worktrees/x/private", "x");
    fs::set_permissions(path.join("private"), Permissions::from_mode(0o600)).unwrap();
    for name in [&b"not \xff utf-8"[..], b"new\nline", b" \"quoted\\ ", b"%41", b"-rf", b":(top)x"]
    {
        fs::write(path.join(OsStr::from_bytes(name)), name).unwrap();
    }
    let salvage = round_trip(&scene, &path).await;
    assert_eq!(salvage.branch, Some(branch("x")));
    assert_eq!(salvage.path, path);
    let mode = fs::metadata(path.join("private")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn flags_of_the_index_come_back() {
    let scene = Scene::new();
    let app = scene.path("app");
    for name in ["assumed", "skipped"] {
        scene.commit(&app, name, name);
    }
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/intended", "not staged yet");
    scene.git(&path, &["add", "-N", "intended"]);
    scene.git(&path, &["update-index", "--assume-unchanged", "assumed"]);
    scene.git(&path, &["update-index", "--skip-worktree", "skipped"]);
    // Git reports neither of these changes.
    scene.write("worktrees/x/assumed", "changed");
    scene.write("worktrees/x/skipped", "changed");
    round_trip(&scene, &path).await;
}

#[tokio::test]
async fn changes_that_git_does_not_report_are_salvaged() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.git(&path, &["update-index", "--assume-unchanged", "file"]);
    scene.write("worktrees/x/file", "changed");
    assert_eq!(scene.git(&path, &["status", "--porcelain"]), "");
    let outcome = scene.remove(&path).await.unwrap();
    let blob = format!("{}:files/file", outcome.salvage().unwrap().reference);
    assert_eq!(scene.git(scene.path("app"), &["cat-file", "blob", &blob]), "changed");
}

#[tokio::test]
async fn line_ends_come_back_as_they_were_although_git_converts_them() {
    let scene = Scene::new();
    let app = scene.path("app");
    scene.write("app/.gitattributes", "* text=auto\n*.crlf eol=crlf\n*.id ident\n");
    scene.git(&app, &["add", "."]);
    scene.git(&app, &["commit", "-q", "-m", "attributes"]);
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/dos", "a\r\nb\r\n");
    scene.write("worktrees/x/unix.crlf", "a\nb\n");
    scene.write("worktrees/x/name.id", "$Id: expanded$\n");
    scene.git(&path, &["add", "."]);
    scene.git(&path, &["commit", "-q", "-m", "converted"]);
    assert_eq!(scene.git(&path, &["status", "--porcelain"]), "");
    round_trip(&scene, &path).await;
}

#[tokio::test]
async fn files_of_a_filter_come_back_byte_for_byte() {
    let scene = Scene::new();
    let app = scene.path("app");
    let smudge = scene.program("smudge", "sed s/pointer/content/");
    let clean = scene.program("clean", "sed s/content/pointer/");
    scene.git(&app, &["config", "filter.media.smudge", &smudge]);
    scene.git(&app, &["config", "filter.media.clean", &clean]);
    scene.write("app/.gitattributes", "*.bin filter=media\n");
    scene.write("app/a.bin", "content a\n");
    scene.write("app/b.bin", "content b\n");
    scene.git(&app, &["add", "."]);
    scene.git(&app, &["commit", "-q", "-m", "media"]);
    let path = scene.worktree("x").await;
    scene.settle(&path);
    scene.write("worktrees/x/b.bin", "content changed\n");
    let salvage = round_trip(&scene, &path).await;
    let blob = |name: &str| format!("{}:files/{name}", salvage.reference);
    // The filter may not be able to make the content again, so the content itself is stored.
    assert_eq!(scene.git(&app, &["cat-file", "blob", &blob("a.bin")]), "content a");
    assert_eq!(scene.git(&app, &["cat-file", "blob", &blob("b.bin")]), "content changed");
}

#[tokio::test]
async fn merge_in_progress_comes_back_with_its_conflicts() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.commit(&path, "file", "ours\n");
    scene.commit(scene.path("app"), "file", "theirs\n");
    assert!(!scene.try_git(&path, &["merge", "main"]).status.success());
    let conflicts = scene.git(&path, &["ls-files", "--unmerged"]);
    assert_eq!(conflicts.lines().count(), 3);
    let salvage = round_trip(&scene, &path).await;
    assert_eq!(scene.git(&path, &["ls-files", "--unmerged"]), conflicts);
    scene.write("worktrees/x/file", "both\n");
    scene.git(&path, &["commit", "-q", "-a", "--no-edit"]);
    let parents = scene.git(&path, &["rev-list", "--parents", "-n1", "HEAD"]);
    assert_eq!(parents.split(' ').count(), 3);
    assert!(!salvage.is_remainder);
}

#[tokio::test]
async fn rebase_in_progress_comes_back_and_can_continue() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.commit(&path, "before", "x");
    scene.commit(&path, "file", "ours\n");
    scene.commit(&path, "after", "x");
    scene.commit(scene.path("app"), "file", "theirs\n");
    assert!(!scene.try_git(&path, &["rebase", "main"]).status.success());
    let restored = {
        round_trip(&scene, &path).await;
        scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap()
    };
    assert_eq!(restored.operation, Some(GitOperation::Rebase));
    scene.write("worktrees/x/file", "both\n");
    scene.git(&path, &["add", "file"]);
    scene.git(&path, &["-c", "core.editor=true", "rebase", "--continue"]);
    assert_eq!(scene.git(&path, &["rev-parse", "--abbrev-ref", "HEAD"]), "x");
    assert!(path.join("after").is_file());
}

#[tokio::test]
async fn branch_without_commits_comes_back() {
    let scene = Scene::empty();
    scene.git(scene.path(""), &["init", "-q", "app"]);
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/staged", "x");
    scene.git(&path, &["add", "staged"]);
    scene.write("worktrees/x/untracked", "x");
    let salvage = round_trip(&scene, &path).await;
    assert_eq!(salvage.head, None);
}

#[tokio::test]
async fn commits_that_only_the_worktree_keeps_are_kept() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.git(&path, &["checkout", "-q", "--detach"]);
    let commit = scene.commit(&path, "detached work", "x");
    scene.git(&path, &["checkout", "-q", "x"]);
    assert_eq!(scene.git(&path, &["status", "--porcelain"]), "");
    let outcome = scene.remove(&path).await.unwrap();
    assert!(outcome.salvage().is_some(), "{outcome:?}");
    let app = scene.path("app");
    scene.git(&app, &["reflog", "expire", "--expire=now", "--all"]);
    scene.git(&app, &["gc", "-q", "--prune=now"]);
    scene.git(&app, &["cat-file", "-e", &commit]);
}

#[tokio::test]
async fn detached_head_comes_back_detached() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.git(&path, &["checkout", "-q", "--detach"]);
    let commit = scene.commit(&path, "work", "x");
    let salvage = round_trip(&scene, &path).await;
    assert_eq!((salvage.branch, salvage.head.unwrap().as_str()), (None, commit.as_str()));
}

#[tokio::test]
async fn nested_repositories_and_submodules_come_back_with_their_git_folders() {
    let scene = Scene::with_remote();
    let app = scene.path("app");
    scene.git(&app, &["submodule", "--quiet", "add", &scene.url(), "sub"]);
    scene.git(&app, &["commit", "-q", "-m", "submodule"]);
    scene.git(&app, &["push", "-q", "origin", "HEAD:main"]);
    let path = scene.worktree("x").await;
    scene.git(&path, &["submodule", "--quiet", "update", "--init"]);
    let sub = path.join("sub");
    let commit = scene.commit(&sub, "unpushed", "x");
    fs::write(sub.join("untracked"), "x").unwrap();
    for name in ["nested", "unborn"] {
        scene.git(&path, &["init", "-q", name]);
        fs::write(path.join(name).join("untracked"), name).unwrap();
    }
    scene.commit(path.join("nested"), "work", "x");
    let files = contents(&path);
    let outcome = scene.remove(&path).await.unwrap();
    let salvage = outcome.salvage().unwrap();
    scene.check(&app);
    scene.restore(&salvage.reference).await.unwrap();
    assert_eq!(contents(&path), files);
    assert_eq!(scene.git(&sub, &["rev-parse", "HEAD"]), commit);
    assert_eq!(scene.git(path.join("nested"), &["status", "--porcelain"]), "?? untracked");
    assert_eq!(scene.git(path.join("unborn"), &["status", "--porcelain"]), "?? untracked");
}

#[tokio::test]
async fn ignored_files_are_only_salvaged_if_they_are_included() {
    let scene = Scene::new();
    let app = scene.path("app");
    scene.commit(&app, ".gitignore", "*.log\n.env\nout/\n");
    let path = scene.worktree("x").await;
    for name in ["a.log", ".env", "sub/.env", "out/big"] {
        scene.write(&format!("worktrees/x/{name}"), name);
    }
    let mut order = scene.removal(&path);
    order.include = vec![".env".to_owned()];
    let outcome = scene.checkouts.remove(&order).await.unwrap();
    scene.restore(&outcome.salvage().unwrap().reference).await.unwrap();
    let there = ["a.log", ".env", "sub/.env", "out/big"].map(|name| path.join(name).exists());
    assert_eq!(there, [false, true, true, false]);
}

#[tokio::test]
async fn files_that_the_user_ignores_everywhere_are_ignored() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.write("home/.config/git/ignore", "*.swp\n");
    scene.write("worktrees/x/a.swp", "x");
    let outcome = scene.checkouts.salvage(&scene.place(&path), &[]).await.unwrap();
    assert!(outcome.salvage().is_none(), "{outcome:?}");
    scene.git(&path, &["config", "--global", "core.excludesFile", "~/ignore"]);
    scene.write("home/ignore", "*.log\n");
    scene.write("worktrees/x/b.log", "x");
    fs::remove_file(path.join("a.swp")).unwrap();
    let checkouts = crate::support::checkouts_in(&scene.path(""));
    let outcome = checkouts.salvage(&scene.place(&path), &[]).await.unwrap();
    assert!(outcome.salvage().is_none(), "{outcome:?}");
}

#[tokio::test]
async fn clean_worktree_has_nothing_to_salvage() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    let commit = scene.commit(&path, "work", "x");
    scene.git(&path, &["commit", "-q", "--amend", "-m", "reworded"]);
    let head = scene.git(&path, &["rev-parse", "HEAD"]);
    assert_ne!(head, commit);
    let outcome = scene.remove(&path).await.unwrap();
    let SalvageOutcome::NothingToSalvage { branch: found, head: at } = outcome else { panic!() };
    assert_eq!((found, at.unwrap().as_str()), (Some(branch("x")), head.as_str()));
    assert_eq!(scene.checkouts.salvages(&scene.app()).await.unwrap(), []);
    let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    assert_eq!(ensured.head.unwrap().as_str(), head);
    // The commit before the amendment is in the reflog of the branch.
    scene.git(&path, &["cat-file", "-e", &commit]);
}

#[tokio::test]
async fn removal_is_refused_for_used_locked_and_unlisted_worktrees() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    let mut order = scene.removal(&path);
    order.used_by = Some("shop/coder".to_owned());
    let error = refused(scene.checkouts.remove(&order).await);
    assert!(error.message.starts_with("session `shop/coder` uses"), "{error}");
    scene.git(&path, &["worktree", "lock", "--reason", "mine", "."]);
    let error = refused(scene.remove(&path).await);
    assert_eq!((error.kind, &error.causes[..]), (Kind::Conflict, &["mine".to_owned()][..]));
    scene.git(&path, &["worktree", "unlock", "."]);
    assert_eq!(refused(scene.remove(&scene.path("app")).await).kind, Kind::Usage);
    scene.write("foreign/file", "x");
    assert_eq!(refused(scene.remove(&scene.path("foreign")).await).kind, Kind::NotFound);
    assert!(path.is_dir() && scene.path("app/.git").is_dir() && scene.path("foreign").is_dir());
    scene.remove(&path).await.unwrap();
    assert!(!path.exists());
    assert_eq!(scene.checkouts.list(&scene.app()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn worktree_stays_if_its_salvage_cannot_be_stored() {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/loose", "x");
    let objects = scene.path("app/.git/objects");
    let hidden = scene.path("app/.git/hidden");
    fs::rename(&objects, &hidden).unwrap();
    fs::write(&objects, "").unwrap();
    assert!(scene.remove(&path).await.is_err());
    fs::remove_file(&objects).unwrap();
    fs::rename(&hidden, &objects).unwrap();
    assert_eq!(scene.read("worktrees/x/loose"), "x");
    scene.check(&scene.path("app"));
}

#[tokio::test]
async fn salvages_are_listed_newest_first_and_expire() {
    let scene = Scene::new();
    let mut made = Vec::new();
    for name in ["a", "b"] {
        let path = scene.worktree(name).await;
        scene.write(&format!("worktrees/{name}/untracked"), name);
        made.push(scene.remove(&path).await.unwrap().salvage().unwrap().clone());
    }
    let (first, second) = (made[0].clone(), made[1].clone());
    let list = async || scene.checkouts.salvages(&scene.app()).await.unwrap();
    assert_eq!(list().await, [second.clone(), first.clone()]);
    let expired = scene.checkouts.expire_salvages(&scene.app(), second.made_at).await.unwrap();
    assert_eq!(expired, std::slice::from_ref(&first));
    assert_eq!(list().await, [second]);
    assert_eq!(refused(scene.restore(&first.reference).await).kind, Kind::NotFound);
}
