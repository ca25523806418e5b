//! An agent in a worktree can write to the configuration of the shared clone. Its settings run no
//! program, and make git delete nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use segue_core::model::{CheckoutNotice, WorktreePlace};
use segue_core::ports::{Checkouts as _, RemovalOrder, RestorationOrder};

use crate::support::Scene;

/// Writes a program that leaves a trace if it runs. It needs no `PATH`.
fn trap(scene: &Scene) -> String {
    let sprung = scene.path("sprung").display().to_string();
    scene.program("trap", &format!(": > '{sprung}'; exit 1"))
}

#[tokio::test]
async fn settings_of_an_agent_do_not_run_during_maintenance() {
    let scene = Scene::with_remote();
    let path = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap().path;
    scene.git(&path, &["config", "gc.recentObjectsHook", &trap(&scene)]);
    // Git asks the hook about old objects that it would delete.
    let unreachable = scene.git(&path, &["commit-tree", "-m", "unreachable", "HEAD^{tree}"]);
    let (folder, name) = unreachable.split_at(2);
    let object = scene.clone_folder().join("objects").join(folder).join(name);
    fs::set_permissions(&object, fs::Permissions::from_mode(0o600)).unwrap();
    let object = fs::File::options().write(true).open(object).unwrap();
    object.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    scene.checkouts.maintain(&scene.remote()).await.unwrap();
    assert!(!scene.path("sprung").exists());
    scene.check(&scene.clone_folder());
}

#[tokio::test]
async fn maintenance_keeps_new_objects_and_worktrees_whose_folders_are_gone() {
    let scene = Scene::with_remote();
    let path = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap().path;
    let settings =
        [("gc.pruneExpire", "now"), ("gc.worktreePruneExpire", "now"), ("gc.cruftPacks", "false")];
    for (key, value) in settings {
        scene.git(&path, &["config", key, value]);
    }
    let unreachable = scene.git(&path, &["commit-tree", "-m", "x", "HEAD^{tree}"]);
    scene.write("worktrees/x/staged", "only staged");
    scene.git(&path, &["add", "staged"]);
    let blob = scene.git(&path, &["rev-parse", ":staged"]);
    fs::remove_dir_all(&path).unwrap();
    scene.checkouts.maintain(&scene.remote()).await.unwrap();
    assert_eq!(scene.checkouts.list(&scene.remote()).await.unwrap().len(), 2);
    for object in [unreachable, blob] {
        scene.git(scene.clone_folder(), &["cat-file", "-e", &object]);
    }
}

#[tokio::test]
async fn settings_of_an_agent_do_not_run_for_a_diff() {
    let scene = Scene::with_remote();
    let origin = scene.path("origin");
    scene.commit(&origin, "file", "two\n");
    scene.git(&origin, &["push", "-q", &scene.url(), "main"]);
    let path = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap().path;
    // The clone lacks the file of the first commit.
    scene.git(&path, &["config", "remote.origin.uploadpack", &trap(&scene)]);
    let base = scene.git(&origin, &["rev-parse", "main~1"]);
    let place = WorktreePlace { source: scene.remote(), path };
    let diff = scene.checkouts.diff(&place, Some(&base), 1 << 20, &scene.caller()).await.unwrap();
    assert_eq!(diff.files[0].lines, Some((1, 1)));
    assert!(!scene.path("sprung").exists());
}

#[tokio::test]
async fn settings_of_an_agent_do_not_run_when_a_worktree_is_restored() {
    let scene = Scene::with_remote();
    scene.install_lfs();
    let origin = scene.path("origin");
    scene.write("origin/.gitattributes", "*.bin filter=lfs\n");
    scene.write("origin/a.bin", "content\n");
    scene.git(&origin, &["add", "."]);
    scene.git(&origin, &["commit", "-q", "-m", "media"]);
    scene.git(&origin, &["push", "-q", &scene.url(), "main"]);
    let path = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap().path;
    scene.write("worktrees/x/untracked", "x");
    let trap = trap(&scene);
    // This gives the worktree settings of its own.
    scene.git(&path, &["sparse-checkout", "set", "--no-cone", "/*"]);
    scene.git(&path, &["config", "--worktree", "filter.lfs.smudge", &trap]);
    scene.settle(&path);
    let place = WorktreePlace { source: scene.remote(), path: path.clone() };
    let order = RemovalOrder { place, include: Vec::new(), used_by: None };
    let outcome = scene.checkouts.remove(&order).await.unwrap();
    scene.git(scene.clone_folder(), &["config", "filter.lfs.smudge", &trap]);
    let salvage = outcome.salvage().unwrap().reference.clone();
    let order = RestorationOrder { source: scene.remote(), salvage, branch: None };
    let restored = scene.checkouts.restore(&order, &scene.caller()).await.unwrap();
    assert!(!scene.path("sprung").exists());
    assert_eq!(scene.read("worktrees/x/a.bin"), "content\n");
    let [CheckoutNotice::SettingsRemoved { names }] = &restored.notices[..] else { panic!() };
    assert_eq!(names, &["filter.lfs.smudge"]);
}

#[tokio::test]
async fn settings_of_an_agent_that_run_programs_are_removed_and_others_stay() {
    let scene = Scene::with_remote();
    let path = scene.ensure(&scene.spec(scene.remote(), "x")).await.unwrap().path;
    let trap = scene.program("trap", "touch \"$(dirname \"$0\")/sprung\"; exit 1");
    let clone = scene.clone_folder();
    for (key, value) in [
        ("core.sshCommand", trap.as_str()),
        ("core.fsmonitor", &trap),
        ("core.hooksPath", "/nowhere"),
        ("remote.origin.uploadpack", &trap),
        ("credential.helper", &format!("!{trap}")),
        ("filter.x.smudge", &trap),
        ("include.path", "/nowhere"),
        ("user.name", "Agent"),
    ] {
        scene.git(&path, &["config", key, value]);
    }
    scene.program(
        &format!("data/clones/{}/hooks/post-checkout", clone.file_name().unwrap().display()),
        "touch sprung",
    );
    let ensured = scene.ensure(&scene.spec(scene.remote(), "y")).await.unwrap();
    let [CheckoutNotice::SettingsRemoved { names }] = &ensured.notices[..] else { panic!() };
    assert_eq!(names.len(), 7, "{names:?}");
    assert_eq!(scene.git(&path, &["config", "user.name"]), "Agent");
    assert!(!scene.path("sprung").exists() && !ensured.path.join("sprung").exists());
}
