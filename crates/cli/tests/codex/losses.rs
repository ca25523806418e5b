//! Conversations that are deleted, and homes that cannot go on with them.

use std::fs;

use segue_testkit::{isolated, launches};

use crate::Scenery;

#[test]
fn a_rollout_deleted_while_nothing_runs_is_restored() {
    isolated(|| {
        let scenery = Scenery::new();
        let session = scenery.told("coder", "remember ALPHA");
        scenery.world.kill_everything();
        fs::remove_file(scenery.rollout(&session)).unwrap();
        scenery.world.resume(["coder"]).assert_back("coder", "restored");
        scenery.assert_carries("coder", &["remember ALPHA"], "which word?");
    });
}

#[test]
fn a_rollout_deleted_while_its_agent_runs_is_restored_with_what_was_said_after() {
    isolated(|| {
        let scenery = Scenery::new();
        let session = scenery.told("coder", "remember ALPHA");
        let path = scenery.rollout(&session);
        fs::remove_file(&path).unwrap();
        let folder = launches::of(&scenery.world, &session).pop().unwrap().0;
        // Nothing confirms the message: what is written to a name that is gone is not seen.
        let mut send = scenery.world.start(["send", "coder", "and BETA"]);
        scenery.model.wait_answered("and BETA");
        scenery.wait_idle("coder");
        scenery.world.kill_everything();
        send.wait().unwrap();
        let guard = launches::guard(&folder, &path);
        assert!(fs::read_to_string(guard).unwrap().contains("and BETA"));
        scenery.world.resume(["coder"]).assert_back("coder", "restored");
        scenery.assert_carries("coder", &["remember ALPHA", "and BETA"], "which words?");
    });
}

#[test]
fn a_conversation_that_is_gone_for_good_is_refused_and_not_begun_blank() {
    isolated(|| {
        let scenery = Scenery::new();
        let session = scenery.told("coder", "remember ALPHA");
        scenery.world.kill_everything();
        fs::remove_file(scenery.rollout(&session)).unwrap();
        launches::remove_copies(&scenery.world, &session);
        let requests = scenery.model.exchanges().len();
        let refused = scenery.world.segue(["resume", "coder"]);
        assert_eq!(refused.status, 8, "{refused:#?}");
        assert!(refused.stdout.contains("--fresh"), "{refused:#?}");
        assert_eq!(scenery.model.exchanges().len(), requests);
    });
}

#[test]
fn a_provider_that_is_no_longer_configured_is_told() {
    isolated(|| {
        let scenery = Scenery::new();
        let turn = scenery.headless("coder", "remember ALPHA");
        assert_eq!(turn.status, 0, "{turn:#?}");
        scenery.home.forget_provider();
        let requests = scenery.model.exchanges().len();
        let refused = scenery.world.segue(["send", "--wait", "coder", "which word?"]);
        assert_eq!(refused.status, 6, "{refused:#?}");
        assert!(refused.stderr.contains("no longer configured"), "{refused:#?}");
        assert_eq!(scenery.model.exchanges().len(), requests);
    });
}

#[test]
fn an_interactive_agent_without_its_provider_says_why_it_does_not_come_back() {
    isolated(|| {
        let scenery = Scenery::new();
        scenery.told("coder", "remember ALPHA");
        scenery.world.ok(["stop", "coder"]);
        scenery.home.forget_provider();
        let refused = scenery.world.segue(["resume", "coder"]);
        assert_eq!(refused.status, 8, "{refused:#?}");
        assert!(refused.stdout.contains("no longer configured"), "{refused:#?}");
        assert!(refused.stdout.contains("mend the vendor's settings"), "{refused:#?}");
    });
}
