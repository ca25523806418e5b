//! Deleted and damaged conversations.

use std::fs;

use segue_testkit::isolated;
use segue_testkit::scene::text;

use super::scene;

/// Pi goes on writing a file without its first line, and would empty that file at the next start.
#[test]
fn transcript_deleted_while_its_agent_runs_is_restored_with_later_messages() {
    isolated(|| {
        let scene = scene();
        let session = scene.start_and_wait("coder", "remember ALPHA");
        let path = scene.transcript(&session);
        fs::remove_file(&path).unwrap();
        let mut send = scene.world.start(["send", "coder", "and BETA"]);
        scene.model.wait_answered("and BETA");
        send.wait().unwrap();
        scene.wait_idle("coder");
        scene.world.kill_everything();
        let rewritten = fs::read_to_string(&path).unwrap();
        let lacks_first_line = rewritten.starts_with(r#"{"type":"message""#);
        assert!(lacks_first_line && rewritten.contains("and BETA"), "{rewritten}");
        scene.world.resume(["coder"]).assert_back("coder", "restored");
        scene.assert_carries("coder", &["remember ALPHA", "and BETA"], "which words?");
    });
}

/// Pi itself would empty the file and exit with 0.
#[test]
fn resume_with_a_damaged_first_line_is_refused_and_leaves_the_file() {
    isolated(|| {
        let scene = scene();
        let session = scene.start_and_wait("coder", "remember ALPHA");
        scene.world.kill_everything();
        let path = scene.transcript(&session);
        let whole = fs::read_to_string(&path).unwrap();
        let with_garbage = whole.replacen("{\"", "\u{0}\"", 1);
        let without_first_line = whole.split_once('\n').unwrap().1;
        let with_another_id = whole.replacen(text(&session, "vendor_session_id"), "another", 1);
        for damaged in [with_garbage.as_str(), without_first_line, &with_another_id, ""] {
            fs::write(&path, damaged).unwrap();
            let refused = scene.world.segue(["resume", "coder"]);
            assert_ne!(refused.status, 0, "{refused:#?}");
            let printed = format!("{}{}", refused.stdout, refused.stderr);
            assert!(printed.contains("is damaged"), "{refused:#?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
        }
        fs::write(&path, &whole).unwrap();
        scene.world.resume(["coder"]).assert_back("coder", "resumed");
        scene.assert_carries("coder", &["remember ALPHA"], "which word?");
    });
}
