//! One process at a time changes a repository.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use segue_core::model::WorktreeOrigin;
use segue_core::ports::Checkouts as _;

use crate::support::Scene;
use crate::victims::{VictimAction, start};

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Waits until another process opens the pipe for writing and closes it.
fn wait_for_writer(path: &Path) {
    File::open(path).unwrap().read_to_end(&mut Vec::new()).unwrap();
}

#[tokio::test]
async fn git_that_outlives_its_killed_parent_still_holds_the_lock() {
    let scene = Scene::new();
    let (entered, leave) = (scene.path("entered"), scene.path("leave"));
    pipe(&entered);
    pipe(&leave);
    // The hook shows that git runs, and keeps it running.
    let hook = format!(": > '{}'; cat '{}'", entered.display(), leave.display());
    scene.program("app/.git/hooks/post-checkout", &hook);
    let mut victim = start(&scene, VictimAction::EnsureLocal, "none", 0);
    wait_for_writer(&entered);
    let pid = Pid::from_raw(i32::try_from(victim.id()).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    victim.wait().unwrap();
    let lock = std::fs::read_dir(scene.path("data/locks")).unwrap().next().unwrap().unwrap().path();
    let lock = File::options().write(true).open(lock).unwrap();
    assert!(lock.try_lock().is_err(), "the lock is free although git runs");
    drop(lock);
    let spec = scene.spec(scene.app(), "x");
    let waiting = scene.ensure(&spec);
    let release = async {
        tokio::task::spawn_blocking(move || drop(File::options().write(true).open(leave))).await
    };
    std::fs::remove_file(scene.path("app/.git/hooks/post-checkout")).unwrap();
    let (ensured, released) = tokio::join!(waiting, release);
    released.unwrap();
    assert_eq!(ensured.unwrap().branch.as_deref(), Some("x"));
    scene.check(&scene.path("app"));
}

#[tokio::test]
async fn processes_that_want_the_same_worktree_at_once_get_the_same() {
    let scene = Scene::with_remote();
    let mut victims: Vec<_> =
        (0..4).map(|_| start(&scene, VictimAction::EnsureFromUrl, "none", 0)).collect();
    let spec = scene.spec(scene.remote(), "x");
    let mine = scene.ensure(&spec).await.unwrap();
    for victim in &mut victims {
        assert!(victim.wait().unwrap().success());
    }
    assert_eq!(scene.checkouts.list(&scene.remote()).await.unwrap().len(), 2);
    let again = scene.ensure(&spec).await.unwrap();
    assert_eq!((again.origin, again.path), (WorktreeOrigin::Existing, mine.path));
    assert_eq!(std::fs::read_dir(scene.path("data/clones")).unwrap().count(), 1);
    scene.check(&scene.clone_folder());
}

#[tokio::test]
async fn calls_in_one_process_wait_for_each_other() {
    let scene = Scene::with_remote();
    let names: Vec<String> = (0..6).map(|number| format!("b{}", number % 3)).collect();
    let specs: Vec<_> = names.iter().map(|name| scene.spec(scene.remote(), name)).collect();
    let [a, b, c, d, e, f] = &specs[..] else { panic!() };
    let ensure = |spec| scene.ensure(spec);
    let all = tokio::join!(ensure(a), ensure(b), ensure(c), ensure(d), ensure(e), ensure(f));
    for ensured in [all.0, all.1, all.2, all.3, all.4, all.5] {
        ensured.unwrap();
    }
    assert_eq!(scene.checkouts.list(&scene.remote()).await.unwrap().len(), 4);
    scene.check(&scene.clone_folder());
}

#[tokio::test]
async fn dropped_call_ends_git_and_can_be_repeated() {
    let scene = Scene::new();
    let (entered, leave) = (scene.path("entered"), scene.path("leave"));
    pipe(&entered);
    pipe(&leave);
    let hook = format!(": > '{}'; cat '{}'", entered.display(), leave.display());
    scene.program("app/.git/hooks/post-checkout", &hook);
    let spec = scene.spec(scene.app(), "x");
    let is_entered = tokio::task::spawn_blocking(move || wait_for_writer(&entered));
    tokio::select! {
        ensured = scene.ensure(&spec) => panic!("{ensured:?}"),
        entered = is_entered => entered.unwrap(),
    }
    // The hook still waits for the pipe. Only its end lets the next call have the lock.
    std::fs::remove_file(scene.path("app/.git/hooks/post-checkout")).unwrap();
    let ensured = scene.ensure(&spec).await.unwrap();
    assert_eq!(ensured.branch.as_deref(), Some("x"));
    scene.check(&scene.path("app"));
}
