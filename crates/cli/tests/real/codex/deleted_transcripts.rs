//! Deleted conversations, and settings that no longer allow a resume.

use std::fs;
use std::path::PathBuf;

use segue_testkit::{isolated, launches};

use super::{run_without_segue, scene};

#[test]
fn rollout_deleted_while_its_agent_runs_is_restored_with_later_messages() {
    isolated(|| {
        let scene = scene();
        let session = scene.start_and_wait("coder", "remember ALPHA");
        let path = scene.transcript(&session);
        fs::remove_file(&path).unwrap();
        let (folder, _) = launches::newest(&scene.world, &session);
        // The message is not confirmed: Segue does not see writes to a file whose name was deleted.
        let mut send = scene.world.start(["send", "coder", "and BETA"]);
        scene.model.wait_answered("and BETA");
        scene.wait_idle("coder");
        scene.world.kill_everything();
        send.wait().unwrap();
        let guard = launches::guard(&folder, &path);
        assert!(fs::read_to_string(guard).unwrap().contains("and BETA"));
        scene.world.resume(["coder"]).assert_back("coder", "restored");
        scene.assert_carries("coder", &["remember ALPHA", "and BETA"], "which words?");
    });
}

#[test]
fn send_fails_if_the_model_provider_is_no_longer_configured() {
    isolated(|| {
        let scene = scene();
        let turn = scene.headless("coder", "remember ALPHA");
        assert_eq!(turn.status, 0, "{turn:#?}");
        scene.home.forget_provider();
        let requests = scene.model.exchanges().len();
        let refused = scene.world.segue(["send", "--wait", "coder", "which word?"]);
        assert_eq!(refused.status, 6, "{refused:#?}");
        assert!(refused.stderr.contains("no longer configured"), "{refused:#?}");
        assert_eq!(scene.model.exchanges().len(), requests);
    });
}

#[test]
fn resume_is_refused_if_the_model_provider_is_no_longer_configured() {
    isolated(|| {
        let scene = scene();
        scene.start_and_wait("coder", "remember ALPHA");
        scene.world.ok(["stop", "coder"]);
        scene.home.forget_provider();
        let refused = scene.world.segue(["resume", "coder"]);
        assert_eq!(refused.status, 8, "{refused:#?}");
        assert!(refused.stdout.contains("no longer configured"), "{refused:#?}");
        assert!(refused.stdout.contains("change the vendor's settings"), "{refused:#?}");
    });
}

#[test]
fn archive_restores_a_fork_and_its_parent_conversation() {
    isolated(|| {
        let scene = scene();
        let parent = run_without_segue(&scene.world, &["exec"], &["remember ALPHA"]);
        let fork = run_without_segue(&scene.world, &["exec", "fork"], &[&parent, "remember OMEGA"]);
        scene.world.ok(["adopt", &format!("codex:{fork}"), "--name", "coder"]);
        scene.world.ok(["stop", "coder"]);
        let all = scene.transcripts();
        assert_eq!(all.len(), 2, "{all:?}");
        let bytes: Vec<Vec<u8>> = all.iter().map(|path| fs::read(path).unwrap()).collect();
        all.iter().for_each(|path| fs::remove_file(path).unwrap());

        let report = scene.world.resume(["coder"]);
        report.assert_back("coder", "restored");
        assert!(report.note("coder").contains("archive"), "{report:?}");
        for (path, bytes) in all.iter().zip(&bytes) {
            assert!(fs::read(path).unwrap().starts_with(bytes), "{}", path.display());
        }
        scene.wait_idle("coder");
        let earlier = ["remember ALPHA", "remember OMEGA"];
        scene.assert_user_texts("coder", &earlier, "what was it?");

        // Delete only the parent conversation, which has no guard.
        scene.world.ok(["stop", "coder"]);
        let is_parent = |path: &PathBuf| path.to_string_lossy().contains(&parent);
        let parent = all.iter().position(is_parent).unwrap();
        fs::remove_file(&all[parent]).unwrap();
        scene.world.resume(["coder"]).assert_back("coder", "resumed");
        assert_eq!(fs::read(&all[parent]).unwrap(), bytes[parent]);
        scene.wait_idle("coder");
        let earlier = ["remember ALPHA", "remember OMEGA", "what was it?"];
        scene.assert_user_texts("coder", &earlier, "and now?");
    });
}
