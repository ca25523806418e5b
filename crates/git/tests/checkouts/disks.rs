//! Full disks and read-only folders. These tests run again in a mount namespace of their own, where
//! they can mount such disks.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use segue_core::Kind;
use segue_core::ports::Checkouts as _;

use crate::support::{Scene, refused};

/// The path of a file that the process in the namespace writes, as a proof that the test has run.
const PROOF: &str = "SEGUE_TEST_MOUNTS";

/// Returns whether this process is in a namespace of its own. Otherwise it runs the test there.
fn is_isolated(test: &str) -> bool {
    if let Some(proof) = std::env::var_os(PROOF) {
        fs::write(proof, "has run").unwrap();
        return true;
    }
    let proof = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "--"]).arg(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("disks::{test}"), "--nocapture"]);
    let status = command.env(PROOF, proof.path()).stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "the test failed in its namespace");
    assert_eq!(fs::read_to_string(proof.path()).unwrap(), "has run");
    false
}

fn mount(folder: &Path, options: &str) {
    fs::create_dir_all(folder).unwrap();
    let mut command = Command::new("mount");
    let status = command.args(["-t", "tmpfs", "-o", options, "none"]).arg(folder).status().unwrap();
    assert!(status.success());
}

fn remount(folder: &Path, options: &str) {
    let mut command = Command::new("mount");
    let options = format!("remount,{options}");
    assert!(command.args(["-o", &options]).arg(folder).status().unwrap().success());
}

/// Content that does not get smaller by compression.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

#[tokio::test]
async fn read_only_folder_is_an_error_and_leaves_no_branch() {
    if !is_isolated("read_only_folder_is_an_error_and_leaves_no_branch") {
        return;
    }
    let scene = Scene::new();
    mount(&scene.path("worktrees"), "ro");
    let error = refused(scene.ensure(&scene.spec(scene.app(), "x")).await);
    assert_eq!(error.kind, Kind::Unavailable);
    assert!(error.to_string().contains("Read-only file system"), "{error}");
    assert!(!error.hints.is_empty());
    assert_eq!(scene.git(scene.path("app"), &["branch", "--list", "x"]), "");
    assert_eq!(scene.checkouts.list(&scene.app()).await.unwrap().len(), 1);
    remount(&scene.path("worktrees"), "rw");
    scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    scene.check(&scene.path("app"));
}

#[tokio::test]
async fn full_disk_is_an_error_and_the_worktree_can_be_made_later() {
    if !is_isolated("full_disk_is_an_error_and_the_worktree_can_be_made_later") {
        return;
    }
    let scene = Scene::new();
    scene.write("app/large", noise(1 << 20));
    scene.git(scene.path("app"), &["add", "."]);
    scene.git(scene.path("app"), &["commit", "-q", "-m", "large"]);
    mount(&scene.path("worktrees"), "size=128k");
    let error = refused(scene.ensure(&scene.spec(scene.app(), "x")).await);
    assert_eq!(error.kind, Kind::Unavailable);
    // Git does not say why it cannot write.
    assert!(error.to_string().contains("unable to write file large"), "{error}");
    assert!(error.hints.iter().any(|hint| hint.contains("df -h")), "{error:?}");
    remount(&scene.path("worktrees"), "size=8m");
    let ensured = scene.ensure(&scene.spec(scene.app(), "x")).await.unwrap();
    assert_eq!(scene.git(&ensured.path, &["status", "--porcelain"]), "");
    scene.check(&scene.path("app"));
}

#[tokio::test]
async fn worktree_stays_if_the_disk_is_full_before_it_is_salvaged() {
    if !is_isolated("worktree_stays_if_the_disk_is_full_before_it_is_salvaged") {
        return;
    }
    let scene = Scene::empty();
    mount(&scene.path("app"), "size=512k");
    scene.init("app");
    let path = scene.worktree("x").await;
    let content = noise(1 << 20);
    scene.write("worktrees/x/large", &content);
    let error = refused(scene.remove(&path).await);
    assert!(error.to_string().contains("No space left on device"), "{error}");
    assert_eq!(fs::read(path.join("large")).unwrap(), content);
    remount(&scene.path("app"), "size=8m");
    let outcome = scene.remove(&path).await.unwrap();
    scene.restore(&outcome.salvage().unwrap().reference).await.unwrap();
    assert_eq!(fs::read(path.join("large")).unwrap(), content);
    scene.check(&scene.path("app"));
}
