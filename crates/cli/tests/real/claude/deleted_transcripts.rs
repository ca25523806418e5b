//! Deleted transcripts.

use std::fs;
use std::time::{Duration, SystemTime};

use segue_testkit::conversation::records;
use segue_testkit::vendor_scene::PinnedVendor as _;
use segue_testkit::vendors::ClaudeHome;
use segue_testkit::{archive, isolated, launches};

use super::scene;

#[test]
fn transcript_deleted_while_its_agent_runs_is_restored_with_later_messages() {
    isolated(|| {
        let scene = scene();
        let session = scene.start_and_wait("coder", "remember ALPHA");
        let path = scene.transcript(&session);
        let guard = launches::guard(&launches::of(&scene.world, &session)[0].0, &path);
        let is_turn_end = ClaudeHome::IS_TURN_END.unwrap();
        assert!(records(&guard).iter().any(is_turn_end), "no guard");
        fs::remove_file(&path).unwrap();
        // Claude Code writes a new file under the old name. The new file lacks the beginning.
        scene.ask("coder", "remember OMEGA");
        scene.wait_turns("coder", 1);
        scene.world.kill_everything();
        scene.world.resume(["coder"]).assert_back("coder", "restored");
        scene.wait_idle("coder");
        scene.assert_carries("coder", &["remember ALPHA", "remember OMEGA"], "what was it?");
    });
}

#[test]
fn archive_restores_the_transcript_and_the_files_beside_it() {
    isolated(|| {
        let scene = scene();
        let session = scene.start_and_wait("coder", "remember ALPHA");
        let path = scene.transcript(&session);
        let beside = path.with_extension("").join("tool-results").join("long.txt");
        fs::create_dir_all(beside.parent().unwrap()).unwrap();
        fs::write(&beside, "what a tool said").unwrap();
        scene.world.ok(["stop", "coder"]);
        archive::wait_archived(&scene.world, &session, &path);
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::remove_dir_all(path.with_extension("")).unwrap();
        launches::remove_guards(&scene.world, &session);
        let report = scene.world.resume(["coder"]);
        report.assert_back("coder", "restored");
        assert!(report.note("coder").contains("archive"), "{report:?}");
        assert!(fs::read(&path).unwrap().starts_with(&bytes));
        assert_eq!(fs::read_to_string(&beside).unwrap(), "what a tool said");
        scene.wait_idle("coder");
        scene.assert_carries("coder", &["remember ALPHA"], "what was it?");
    });
}

#[test]
fn transcript_deleted_by_the_vendors_clean_up_is_restored_from_the_archive() {
    isolated(|| {
        let scene = scene();
        let session = scene.start_and_wait("coder", "remember ALPHA");
        let path = scene.transcript(&session);
        scene.world.ok(["stop", "coder"]);
        archive::wait_archived(&scene.world, &session, &path);
        launches::remove_guards(&scene.world, &session);
        let bytes = fs::read(&path).unwrap();
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
        fs::File::options().append(true).open(&path).unwrap().set_modified(old).unwrap();
        // In a headless turn Claude Code deletes old transcripts after the first five seconds.
        let turn = scene.headless("other", "[[tool: sleep 9]]");
        assert_eq!(turn.status, 0, "{turn:#?}");
        assert!(!path.exists(), "Claude Code did not delete it");
        let report = scene.world.resume(["coder"]);
        report.assert_back("coder", "restored");
        assert!(fs::read(&path).unwrap().starts_with(&bytes));
        scene.wait_idle("coder");
        scene.assert_carries("coder", &["remember ALPHA"], "what was it?");
    });
}
