//! A process that is killed at any step leaves a state from which the next one gets the same result.

use std::fs;

use segue_core::model::CheckoutNotice;
use segue_core::ports::Checkouts as _;

use crate::files::contents;
use crate::support::Scene;
use crate::victims::{VictimAction, kill_at, points, succeeds_while_written};

fn with_environment_file() -> Scene {
    let scene = Scene::with_remote();
    scene.write("app/.env", "SECRET=1\n");
    scene.write("app/.git/info/exclude", ".env\n");
    scene
}

async fn with_dirty_worktree() -> Scene {
    let scene = Scene::new();
    let path = scene.worktree("x").await;
    scene.write("worktrees/x/file", "changed\n");
    scene.write("worktrees/x/staged", "x");
    scene.git(&path, &["add", "staged"]);
    scene.write("worktrees/x/untracked", "x");
    scene
}

async fn with_salvage() -> Scene {
    let scene = with_dirty_worktree().await;
    let outcome = scene.remove(&scene.path("worktrees/x")).await.unwrap();
    scene.write("salvage", outcome.salvage().unwrap().reference.as_str());
    scene
}

#[tokio::test]
async fn worktree_is_right_after_sigkill_at_every_step_of_making_it() {
    let all = points(&with_environment_file(), VictimAction::EnsureLocal);
    assert!(all.len() >= 5, "{all:?}");
    for (point, hit) in all {
        let scene = with_environment_file();
        kill_at(&scene, VictimAction::EnsureLocal, &point, hit);
        VictimAction::EnsureLocal.carry_out(&scene.path("")).await.unwrap();
        let path = scene.path("worktrees/x");
        assert_eq!(scene.git(&path, &["status", "--porcelain", "--branch"]), "## x", "{point}");
        assert_eq!(scene.read("worktrees/x/.env"), "SECRET=1\n", "{point}");
        assert_eq!(scene.checkouts.list(&scene.app()).await.unwrap().len(), 2);
        scene.check(&scene.path("app"));
    }
}

#[tokio::test]
async fn clone_and_worktree_are_right_after_sigkill_at_every_step() {
    let all = points(&Scene::with_remote(), VictimAction::EnsureFromUrl);
    assert!(all.iter().any(|(name, _)| name == "git.clone.rename.before"), "{all:?}");
    for (point, hit) in all {
        let scene = Scene::with_remote();
        kill_at(&scene, VictimAction::EnsureFromUrl, &point, hit);
        VictimAction::EnsureFromUrl.carry_out(&scene.path("")).await.unwrap();
        let path = scene.path("worktrees/x");
        assert_eq!(scene.git(&path, &["status", "--porcelain", "--branch"]), "## x", "{point}");
        assert_eq!(fs::read_dir(scene.path("data/clones")).unwrap().count(), 1, "{point}");
        scene.check(&scene.clone_folder());
    }
}

#[tokio::test]
async fn replaced_clone_keeps_worktrees_after_sigkill_at_every_step() {
    async fn damaged() -> Scene {
        let scene = Scene::with_remote();
        VictimAction::EnsureFromUrl.carry_out(&scene.path("")).await.unwrap();
        scene.commit(scene.path("worktrees/x"), "unpushed", "x");
        scene.write("worktrees/x/untracked", "x");
        fs::remove_file(scene.clone_folder().join("HEAD")).unwrap();
        scene
    }
    let all = points(&damaged().await, VictimAction::EnsureFromUrl);
    assert!(all.iter().any(|(name, _)| name == "git.clone.aside.after"), "{all:?}");
    for (point, hit) in all {
        let scene = damaged().await;
        kill_at(&scene, VictimAction::EnsureFromUrl, &point, hit);
        VictimAction::EnsureFromUrl.carry_out(&scene.path("")).await.unwrap();
        let path = scene.path("worktrees/x");
        assert!(path.join("untracked").is_file(), "{point}");
        let log = scene.git(&path, &["log", "--format=%s", "-n1"]);
        assert_eq!(log, "unpushed", "{point}");
        scene.check(&scene.clone_folder());
    }
}

#[tokio::test]
async fn removed_worktree_can_be_restored_after_sigkill_at_every_step_of_its_removal() {
    let scene = with_dirty_worktree().await;
    let path = scene.path("worktrees/x");
    let wanted = (scene.state(&path), contents(&path));
    let all = points(&scene, VictimAction::Remove);
    assert!(all.iter().any(|(name, _)| name == "git.worktree.remove.before"), "{all:?}");
    for (point, hit) in all {
        let scene = with_dirty_worktree().await;
        let path = scene.path("worktrees/x");
        kill_at(&scene, VictimAction::Remove, &point, hit);
        if path.exists() {
            VictimAction::Remove.carry_out(&scene.path("")).await.unwrap();
        }
        assert!(!path.exists(), "{point}");
        let salvages = scene.checkouts.salvages(&scene.app()).await.unwrap();
        let complete = salvages.iter().find(|salvage| !salvage.is_remainder).unwrap();
        scene.restore(&complete.reference).await.unwrap();
        let relocated = |text: &str| text.replace(&*scene.path("").to_string_lossy(), "");
        assert_eq!(contents(&path), wanted.1, "{point}");
        assert_eq!(relocated(&scene.state(&path)).len(), relocated(&wanted.0).len(), "{point}");
        scene.check(&scene.path("app"));
    }
}

#[tokio::test]
async fn worktree_is_restored_after_sigkill_at_every_step_of_its_restoration() {
    let scene = with_salvage().await;
    let all = points(&scene, VictimAction::Restore);
    let wanted = contents(&scene.path("worktrees/x"));
    assert!(all.iter().any(|(name, _)| name == "git.restore.files.after"), "{all:?}");
    for (point, hit) in all {
        for is_ensured in [true, false] {
            let scene = with_salvage().await;
            kill_at(&scene, VictimAction::Restore, &point, hit);
            let path = scene.path("worktrees/x");
            let list = scene.git(scene.path("app"), &["worktree", "list", "--porcelain"]);
            let is_begun = list.contains("\nlocked segue: being restored");
            match (is_begun, is_ensured) {
                (true, true) => {
                    scene.ensure(&scene.spec(scene.app(), "x")).await.map(drop).unwrap();
                }
                (true, false) => VictimAction::Restore.carry_out(&scene.path("")).await.unwrap(),
                (false, _) if path.exists() => {}
                (false, _) => VictimAction::Restore.carry_out(&scene.path("")).await.unwrap(),
            }
            assert_eq!(contents(&path), wanted, "{point}");
            let status = scene.git(&path, &["status", "--porcelain"]);
            assert_eq!(status, " M file\nA  staged\n?? untracked", "{point}");
            scene.check(&scene.path("app"));
        }
    }
}

#[tokio::test]
async fn interrupted_removal_does_not_delete_files_that_were_written_since() {
    let scene = with_dirty_worktree().await;
    let path = scene.path("worktrees/x");
    kill_at(&scene, VictimAction::Remove, "git.worktree.remove.before", 1);
    fs::remove_file(path.join("untracked")).unwrap();
    scene.write("worktrees/x/written since", "precious");
    scene.remove(&path).await.unwrap();
    let salvages = scene.checkouts.salvages(&scene.app()).await.unwrap();
    let rest = salvages.iter().find(|salvage| salvage.is_remainder).unwrap();
    let blob = format!("{}:files/written since", rest.reference);
    assert_eq!(scene.git(scene.path("app"), &["cat-file", "blob", &blob]), "precious");
    let complete = salvages.iter().find(|salvage| !salvage.is_remainder).unwrap();
    scene.restore(&complete.reference).await.unwrap();
    assert!(path.join("untracked").is_file());
}

#[tokio::test]
async fn interrupted_removal_does_not_delete_included_files_that_were_written_since() {
    for is_clean in [true, false] {
        let scene = if is_clean { Scene::new() } else { with_dirty_worktree().await };
        scene.write("app/.git/info/exclude", ".env\n");
        let path = scene.worktree("x").await;
        kill_at(&scene, VictimAction::Remove, "git.worktree.remove.before", 1);
        scene.write("worktrees/x/.env", "precious");
        let mut order = scene.removal(&path);
        order.include = vec![".env".to_owned()];
        scene.checkouts.remove(&order).await.unwrap();
        let salvages = scene.checkouts.salvages(&scene.app()).await.unwrap();
        let blob = format!("{}:files/.env", salvages[0].reference);
        assert_eq!(scene.git(scene.path("app"), &["cat-file", "blob", &blob]), "precious");
    }
}

#[tokio::test]
async fn interrupted_removal_does_not_delete_files_that_were_staged_or_committed_since() {
    for is_clean in [true, false] {
        let scene = if is_clean { Scene::new() } else { with_dirty_worktree().await };
        let path = scene.worktree("x").await;
        kill_at(&scene, VictimAction::Remove, "git.worktree.remove.before", 1);
        scene.write("worktrees/x/since", "only in the index");
        scene.git(&path, &["add", "since"]);
        fs::remove_file(path.join("since")).unwrap();
        scene.remove(&path).await.unwrap();
        let salvages = scene.checkouts.salvages(&scene.app()).await.unwrap();
        let blob = format!("{}:index-0/since", salvages[0].reference);
        assert_eq!(scene.git(scene.path("app"), &["cat-file", "blob", &blob]), "only in the index");

        let scene = if is_clean { Scene::new() } else { with_dirty_worktree().await };
        let path = scene.worktree("x").await;
        kill_at(&scene, VictimAction::Remove, "git.worktree.remove.before", 1);
        scene.write("worktrees/x/since", "folder is gone");
        scene.git(&path, &["add", "since"]);
        fs::remove_dir_all(&path).unwrap();
        scene.remove(&path).await.unwrap();
        let salvages = scene.checkouts.salvages(&scene.app()).await.unwrap();
        let blob = format!("{}:index-0/since", salvages[0].reference);
        assert_eq!(scene.git(scene.path("app"), &["cat-file", "blob", &blob]), "folder is gone");

        let scene = if is_clean { Scene::new() } else { with_dirty_worktree().await };
        let path = scene.worktree("x").await;
        kill_at(&scene, VictimAction::Remove, "git.worktree.remove.before", 1);
        scene.git(&path, &["checkout", "-q", "--detach"]);
        scene.git(&path, &["commit", "-q", "--allow-empty", "-m", "since"]);
        let commit = scene.git(&path, &["rev-parse", "HEAD"]);
        scene.remove(&path).await.unwrap();
        let app = scene.path("app");
        scene.git(&app, &["reflog", "expire", "--expire=now", "--all"]);
        scene.git(&app, &["gc", "-q", "--prune=now"]);
        scene.git(&app, &["cat-file", "-e", &commit]);
    }
}

#[tokio::test]
async fn interrupted_removal_is_completed_after_its_salvage_has_expired() {
    let scene = with_dirty_worktree().await;
    let path = scene.path("worktrees/x");
    kill_at(&scene, VictimAction::Remove, "git.worktree.remove.before", 1);
    let reference = scene.checkouts.salvages(&scene.app()).await.unwrap()[0].reference.clone();
    scene.git(scene.path("app"), &["update-ref", "-d", reference.as_str()]);
    let outcome = scene.remove(&path).await.unwrap();
    assert!(!path.exists());
    let blob = format!("{}:files/untracked", outcome.salvage().unwrap().reference);
    assert_eq!(scene.git(scene.path("app"), &["cat-file", "blob", &blob]), "x");
}

#[tokio::test]
async fn salvage_of_an_interrupted_removal_does_not_expire() {
    let scene = with_dirty_worktree().await;
    kill_at(&scene, VictimAction::Remove, "git.worktree.remove.before", 1);
    let end = "2030-01-01T00:00:00Z".parse().unwrap();
    let expired = scene.checkouts.expire_salvages(&scene.app(), end).await.unwrap();
    assert_eq!(expired, []);
    scene.remove(&scene.path("worktrees/x")).await.unwrap();
    let expired = scene.checkouts.expire_salvages(&scene.app(), end).await.unwrap();
    assert_eq!(expired.len(), 1);
}

#[tokio::test]
async fn worktree_that_changes_while_it_is_salvaged_is_not_removed() {
    let scene = with_dirty_worktree().await;
    let file = "worktrees/x/meanwhile";
    let point = "git.salvage.ref.after";
    assert!(!succeeds_while_written(&scene, VictimAction::Remove, point, file));
    assert_eq!(scene.read(file), "written meanwhile");
}

#[tokio::test]
async fn clean_worktree_that_changes_while_it_is_compared_is_not_removed() {
    let scene = Scene::new();
    scene.worktree("x").await;
    let file = "worktrees/x/meanwhile";
    let point = "git.salvage.nothing.before";
    assert!(!succeeds_while_written(&scene, VictimAction::Remove, point, file));
    assert_eq!(scene.read(file), "written meanwhile");
}

#[tokio::test]
async fn worktree_is_restored_on_a_new_branch_after_sigkill_at_every_step() {
    async fn with_moved_branch() -> Scene {
        let scene = with_salvage().await;
        let tree = scene.git(scene.path("app"), &["rev-parse", "x^{tree}"]);
        let app = scene.path("app");
        let moved = scene.git(&app, &["commit-tree", "-p", "x", "-m", "moved", &tree]);
        scene.git(&app, &["update-ref", "refs/heads/x", &moved]);
        scene
    }
    let all = points(&with_moved_branch().await, VictimAction::RestoreAs);
    assert!(all.iter().any(|(name, _)| name == "git.restore.add.after"), "{all:?}");
    for (point, hit) in all {
        let scene = with_moved_branch().await;
        kill_at(&scene, VictimAction::RestoreAs, &point, hit);
        let path = scene.path("worktrees/x");
        let list = scene.git(scene.path("app"), &["worktree", "list", "--porcelain"]);
        if !path.exists() || list.contains("\nlocked segue: being restored") {
            VictimAction::RestoreAs.carry_out(&scene.path("")).await.unwrap();
        }
        let status = scene.git(&path, &["status", "--porcelain", "--branch"]);
        assert_eq!(status, "## y\n M file\nA  staged\n?? untracked", "{point}");
        scene.check(&scene.path("app"));
    }
}

#[tokio::test]
async fn worktree_is_made_again_after_git_was_killed_in_the_middle() {
    let scene = Scene::new();
    let app = scene.path("app");
    // The filter runs while git writes the files of the worktree.
    let killer = scene.program("killer", "kill -9 $(ps -o ppid= $PPID) $PPID; cat");
    scene.git(&app, &["config", "filter.killer.smudge", &killer]);
    scene.write("app/.gitattributes", "victim filter=killer\n");
    scene.write("app/victim", "x");
    scene.git(&app, &["add", "."]);
    scene.git(&app, &["commit", "-q", "-m", "victim"]);
    assert!(scene.ensure(&scene.spec(scene.app(), "x")).await.is_err());
    let list = scene.git(&app, &["worktree", "list", "--porcelain"]);
    assert!(list.contains("locked segue: being made"), "{list}");
    scene.git(&app, &["config", "--unset", "filter.killer.smudge"]);
    let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    assert_eq!(scene.git(&ensured.path, &["status", "--porcelain"]), "");
    scene.check(&app);
}

#[tokio::test]
async fn lock_files_of_a_killed_git_are_removed() {
    let scene = Scene::new();
    let app = scene.path("app");
    kill_at(&scene, VictimAction::EnsureLocal, "git.worktree.add.before", 1);
    let locks = [app.join(".git/config.lock"), app.join(".git/refs/heads/x.lock")];
    for lock in &locks {
        fs::write(lock, "").unwrap();
    }
    // Segue never locks the index of the user's folder.
    let index = app.join(".git/index.lock");
    fs::write(&index, "").unwrap();
    let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    let removed = locks.clone().map(|path| CheckoutNotice::LockFileRemoved { path });
    assert_eq!(ensured.notices, removed);
    assert!(index.exists());
    scene.check(&app);
}

#[tokio::test]
async fn entry_that_git_had_begun_to_make_or_to_delete_is_removed() {
    let scene = Scene::new();
    let app = scene.path("app");
    kill_at(&scene, VictimAction::EnsureLocal, "git.worktree.add.before", 1);
    scene.write("app/.git/worktrees/x/locked", "segue: being made\n");
    scene.write("app/.git/worktrees/y/locked", "segue: being removed\n");
    scene.write("app/.git/worktrees/y/logs/HEAD", "");
    scene.write("app/.git/worktrees/other/locked", "mine\n");
    let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    let removed = CheckoutNotice::LockFileRemoved { path: app.join(".git/worktrees/y") };
    assert!(ensured.notices.contains(&removed), "{ensured:?}");
    let removed = CheckoutNotice::LockFileRemoved { path: app.join(".git/worktrees/x") };
    assert!(ensured.notices.contains(&removed), "{ensured:?}");
    assert!(!app.join(".git/worktrees/y").exists());
    assert!(app.join(".git/worktrees/other/locked").is_file());
    assert_eq!(scene.git(&ensured.path, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn lock_files_of_others_stay() {
    let scene = Scene::new();
    let app = scene.path("app");
    let lock = app.join(".git/refs/heads/x.lock");
    fs::write(&lock, "").unwrap();
    let spec = scene.spec(scene.app(), "x");
    // No operation of ours was interrupted.
    let error = scene.ensure(&spec).await.unwrap_err();
    assert!(error.to_string().contains("x.lock': File exists"), "{error}");
    // The lock file is older than the interrupted operation.
    kill_at(&scene, VictimAction::EnsureLocal, "git.worktree.add.before", 1);
    assert!(scene.ensure(&spec).await.is_err());
    assert!(lock.exists());
    // A git is running in the repository.
    kill_at(&scene, VictimAction::EnsureLocal, "git.worktree.add.before", 1);
    fs::write(&lock, "").unwrap();
    let mut git = scene.start_git(&app, &["cat-file", "--batch"]);
    assert!(scene.ensure(&spec).await.is_err());
    assert!(lock.exists());
    drop(git.stdin.take());
    git.wait().unwrap();
    scene.ensure(&spec).await.unwrap();
    assert!(!lock.exists());
}
