//! Folders with unusual names, and more than one config dir.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use segue_testkit::vendors::ClaudeHome;
use segue_testkit::{World, isolated, launches};

use super::{ClaudeScene, scene};

/// Kills a headless turn in this folder. Checks that a resume continues the same conversation.
fn assert_resumes_in(scene: &ClaudeScene, number: usize, folder: &Path) {
    let (name, hold) = (format!("agent-{number}"), format!("door-{number}"));
    let message = format!("WORD-{number} [[hold: {hold}]]");
    let cwd = folder.to_str().unwrap();
    let run = ["run", "--headless", "--name", &name, "--cwd", cwd, "--vendor", "claude", &message];
    let mut command = scene.world.start(run);
    scene.model.wait_held(&hold);
    // A guard exists only if Segue knows the right path of the transcript.
    let session = scene.wait_has_content(&name);
    launches::wait_guarded(&scene.world, &session);
    scene.world.kill_everything();
    command.wait().unwrap();
    scene.world.resume([&name]).assert_back(&name, "resumed");
    let nudged = scene.model.wait_for(|it| {
        it.mentions(&message) && it.newest().contains("started again") && !it.is_background
    });
    assert_eq!(nudged.session.as_deref(), session["vendor_session_id"].as_str(), "{cwd}");
}

#[test]
fn folders_with_unusual_names_keep_their_conversations() {
    isolated(|| {
        let scene = scene();
        let root = scene.world.root().join("places");
        let long = ["x".repeat(100), "y".repeat(120)].join("/");
        let names = ["with spaces", "ünïcödé 日本 😀", "decomposed u\u{308}", "a_b.c-d", &long];
        for (number, name) in names.into_iter().enumerate() {
            let folder = root.join(name);
            fs::create_dir_all(&folder).unwrap();
            assert_resumes_in(&scene, number, &folder);
        }
    });
}

#[test]
fn symlinked_folder_and_git_worktree_keep_their_conversations() {
    isolated(|| {
        let scene = scene();
        let root = scene.world.root().join("places");
        fs::create_dir_all(root.join("real")).unwrap();
        symlink(root.join("real"), root.join("link")).unwrap();
        assert_resumes_in(&scene, 0, &root.join("link"));
        git(&scene.world, &["init", "-q"]);
        git(&scene.world, &["commit", "-q", "--allow-empty", "-m", "first"]);
        let tree = root.join("tree");
        git(&scene.world, &["worktree", "add", "-q", tree.to_str().unwrap()]);
        assert_resumes_in(&scene, 1, &tree);
    });
}

fn git(world: &World, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=n", "-c", "user.email=e@e"]).args(arguments);
    let status = command.current_dir(world.project()).env("HOME", world.home()).status();
    assert!(status.unwrap().success(), "{arguments:?}");
}

#[test]
fn sessions_of_two_config_dirs_resume_in_their_own_config_dir() {
    isolated(|| {
        let mut scene = scene();
        scene.start_and_wait("usual", "remember ALPHA");
        let other = scene.world.root().join("other-config");
        ClaudeHome::at(&other).trust(&scene.world.project());
        scene.world.set("CLAUDE_CONFIG_DIR", other.to_str().unwrap());
        scene.start("other", "remember OMEGA");
        scene.model.wait_answered("remember OMEGA");
        scene.wait_has_content("other");
        scene.wait_idle("other");
        scene.world.kill_everything();
        // For both sessions, the environment of `resume` has the second config dir.
        let report = scene.world.resume(["--all"]);
        for (name, word) in [("usual", "remember ALPHA"), ("other", "remember OMEGA")] {
            report.assert_back(name, "resumed");
            scene.wait_idle(name);
            scene.assert_carries(name, &[word], &format!("what was it, {name}?"));
        }
    });
}
